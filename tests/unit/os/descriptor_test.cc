#include "os/descriptor.hpp"

#include <fcntl.h>

#include <cerrno>

#include "os/error.hpp"
#include "os/eventfd.hpp"
#include "support.hpp"

namespace weft::os {
namespace {

using descriptor_test = test::no_leaks;

bool is_open(int number) { return ::fcntl(number, F_GETFD) >= 0; }
descriptor open_null() { return descriptor{::open("/dev/null", O_RDWR | O_CLOEXEC)}; }

TEST_F(descriptor_test, closes_once_and_moves) {
    descriptor a = open_null();
    const int number = a.get();
    ASSERT_TRUE(a);
    descriptor b = std::move(a);
    EXPECT_FALSE(a);
    EXPECT_EQ(b.get(), number);
    b = open_null();
    EXPECT_FALSE(is_open(number) && b.get() != number);
    descriptor& alias = b;
    b = std::move(alias);
    EXPECT_TRUE(is_open(b.get()));
    const int last = b.get();
    b.close();
    EXPECT_FALSE(is_open(last));
    EXPECT_FALSE(descriptor{-5});
}

TEST_F(descriptor_test, release_gives_up_ownership) {
    int number = -1;
    {
        descriptor a = open_null();
        number = a.release();
    }
    EXPECT_TRUE(is_open(number));
    descriptor{number}.close();
}

TEST_F(descriptor_test, close_keeps_errno) {
    descriptor bad{1'000'000};
    errno = ENOENT;
    bad.close();
    EXPECT_EQ(errno, ENOENT);
}

TEST_F(descriptor_test, duplicates_close_on_exec) {
    const descriptor a = open_null();
    const auto copy = a.duplicate();
    ASSERT_TRUE(copy);
    EXPECT_NE(copy->get(), a.get());
    EXPECT_EQ(::fcntl(copy->get(), F_GETFD), FD_CLOEXEC);
    EXPECT_EQ(descriptor{}.duplicate().error().native, EBADF);
}

TEST_F(descriptor_test, exhaustion_names_the_limit_and_its_value) {
    const descriptor a = open_null();
    const test::lowered_limit low(RLIMIT_NOFILE, static_cast<rlim_t>(a.get()) + 1);
    const auto copy = a.duplicate();
    ASSERT_FALSE(copy);
    EXPECT_EQ(copy.error().code, errc::no_descriptors);
    EXPECT_EQ(copy.error().native, EMFILE);
    EXPECT_TRUE(test::contains(copy.error().text, "RLIMIT_NOFILE is " + std::to_string(a.get() + 1)))
        << copy.error().text;
    EXPECT_FALSE(eventfd::create());
}

TEST(limits, are_read_and_described) {
    const test::lowered_limit low(RLIMIT_NOFILE, 200);
    EXPECT_EQ(read_limit(limit::descriptors).soft, 200u);
    EXPECT_EQ(describe(limit::descriptors).rfind("RLIMIT_NOFILE is 200", 0), 0u);
    const test::lowered_limit files(RLIMIT_FSIZE, 64 << 20);
    EXPECT_EQ(describe(limit::file_size).rfind("RLIMIT_FSIZE is 64 MiB", 0), 0u);
    EXPECT_STREQ(name_of(limit::locked_memory), "RLIMIT_MEMLOCK");
}

TEST(limits, sizes_as_text) {
    EXPECT_EQ(size_text(0), "0 bytes");
    EXPECT_EQ(size_text(1), "1 byte");
    EXPECT_EQ(size_text(1024), "1 KiB");
    EXPECT_EQ(size_text(8 << 20), "8 MiB");
    EXPECT_EQ(size_text((8 << 20) + 1), "8388609 bytes");
    EXPECT_EQ(size_text(3ull << 40), "3 TiB");
}

TEST(error, maps_errno_and_writes_sentences) {
    EXPECT_EQ(code_of(ENOMEM), errc::no_memory);
    EXPECT_EQ(code_of(EACCES), errc::permission_denied);
    EXPECT_EQ(code_of(EXDEV), errc::system_error);
    const failure f = system_failure(EACCES, "open it");
    EXPECT_EQ(f.text, "cannot open it: Permission denied");
    EXPECT_EQ(f.native, EACCES);
    EXPECT_TRUE(test::contains(system_failure(ENFILE, "open it").text, "fs.file-max"));
    EXPECT_EQ(system_failure(errc::peer_gone, EACCES, "x").code, errc::peer_gone);
}

}  // namespace
}  // namespace weft::os
