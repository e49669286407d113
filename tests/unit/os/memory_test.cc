#include <fcntl.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <limits>

#include "os/mapping.hpp"
#include "os/memfd.hpp"
#include "support.hpp"

namespace weft::os {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitizer_owns_address_space = true;  // it reserves terabytes: RLIMIT_AS cannot be lowered below
#else
constexpr bool sanitizer_owns_address_space = false;
#endif

class mapping_test : public test::no_leaks {};
class memfd_test : public test::no_leaks {};

TEST_F(mapping_test, anonymous_memory_is_zero_writable_and_movable) {
    auto made = mapping::anonymous(3 * page_size());
    ASSERT_TRUE(made);
    mapping m = *std::move(made);
    for (const std::byte b : m.bytes()) ASSERT_EQ(b, std::byte{0});
    m.data()[m.size() - 1] = std::byte{1};
    mapping n = std::move(m);
    EXPECT_FALSE(m);
    EXPECT_EQ(m.size(), 0u);
    EXPECT_EQ(n.bytes().back(), std::byte{1});
    n = mapping{};
    EXPECT_FALSE(n);
}

TEST_F(mapping_test, impossible_sizes_are_failures) {
    EXPECT_EQ(mapping::anonymous(0).error().code, errc::invalid_argument);
    const auto huge = mapping::anonymous(std::size_t{1} << 62);
    ASSERT_FALSE(huge);
    EXPECT_EQ(huge.error().code, errc::no_memory);
    EXPECT_EQ(mapping::shared(descriptor{}, 4096, protection::read_only).error().code, errc::invalid_argument);
}

TEST_F(mapping_test, address_space_limit_is_named) {
    if (sanitizer_owns_address_space) GTEST_SKIP() << "the sanitizer needs the address space";
    const int status = test::in_child([] {
        const test::lowered_limit low(RLIMIT_AS, rlim_t{1} << 30);
        const auto m = mapping::anonymous(std::size_t{2} << 30);
        if (m) return 1;
        if (m.error().code != errc::no_memory) return 2;
        return test::contains(m.error().text, "RLIMIT_AS is 1 GiB") && test::contains(m.error().text, "map 2 GiB") ? 0
                                                                                                                   : 3;
    });
    EXPECT_EQ(status, 0);
}

TEST_F(mapping_test, fork_advice) {
    auto wiped = mapping::anonymous(page_size());
    ASSERT_TRUE(wiped);
    ASSERT_TRUE(wiped->wipe_on_fork());
    wiped->data()[0] = std::byte{7};
    EXPECT_EQ(test::in_child([&] { return static_cast<int>(wiped->data()[0]); }), 0);
    EXPECT_EQ(wiped->data()[0], std::byte{7});

    auto omitted = mapping::anonymous(page_size());
    ASSERT_TRUE(omitted);
    ASSERT_TRUE(omitted->omit_on_fork());
    EXPECT_EQ(test::in_child([&] { return ::msync(omitted->data(), page_size(), MS_ASYNC) == 0 ? 0 : errno; }), ENOMEM);

    const auto file = create_memfd("fork", page_size());
    ASSERT_TRUE(file);
    auto shared = mapping::shared(*file, page_size(), protection::read_write);
    ASSERT_TRUE(shared);
    EXPECT_EQ(shared->wipe_on_fork().error().native, EINVAL) << "only private memory can be wiped";
}

TEST_F(memfd_test, is_shared_between_mappings_and_outlives_its_descriptor) {
    constexpr std::size_t size = 10'000;
    auto file = create_memfd("unit", size);
    ASSERT_TRUE(file);
    EXPECT_TRUE(check_sealed(*file, size));
    EXPECT_EQ(::fcntl(file->get(), F_GETFD), FD_CLOEXEC);
    auto a = mapping::shared(*file, size, protection::read_write);
    auto b = mapping::shared(*file, size, protection::read_only);
    ASSERT_TRUE(a && b);
    file->close();
    std::memcpy(a->data() + 5000, "weft", 4);
    EXPECT_EQ(test::text(b->bytes().subspan(5000, 4)), "weft");
    auto offset_missing = mapping::shared(*file, size, protection::read_only);
    EXPECT_FALSE(offset_missing);
}

TEST_F(memfd_test, maps_from_an_offset) {
    const std::size_t page = page_size();
    const auto file = create_memfd("unit", 3 * page, reserve::now);
    ASSERT_TRUE(file);
    auto whole = mapping::shared(*file, 3 * page, protection::read_write);
    auto last = mapping::shared(*file, page, protection::read_write, 2 * page);
    ASSERT_TRUE(whole && last);
    last->data()[1] = std::byte{9};
    EXPECT_EQ(whole->data()[2 * page + 1], std::byte{9});
    EXPECT_EQ(mapping::shared(*file, page, protection::read_write, 1).error().code, errc::invalid_argument);
}

TEST_F(memfd_test, size_cannot_change_nor_seals_be_added) {
    const auto file = create_memfd("unit", 4096);
    ASSERT_TRUE(file);
    EXPECT_EQ(::ftruncate(file->get(), 0), -1);
    EXPECT_EQ(errno, EPERM);
    EXPECT_EQ(::ftruncate(file->get(), 8192), -1);
    EXPECT_EQ(::fcntl(file->get(), F_ADD_SEALS, F_SEAL_WRITE), -1);
}

TEST_F(memfd_test, impossible_requests_are_failures_and_no_signals) {
    EXPECT_EQ(create_memfd("unit", 0).error().code, errc::invalid_argument);
    EXPECT_EQ(create_memfd("unit", std::numeric_limits<std::size_t>::max()).error().code, errc::invalid_argument);
    EXPECT_EQ(create_memfd(std::string(300, 'n'), 4096).error().code, errc::invalid_argument);
    const test::lowered_limit low(RLIMIT_FSIZE, 1 << 20);
    const auto file = create_memfd("unit", 2 << 20);  // unchecked, this would be a SIGXFSZ
    ASSERT_FALSE(file);
    EXPECT_EQ(file.error().code, errc::no_memory);
    EXPECT_TRUE(test::contains(file.error().text, "RLIMIT_FSIZE is 1 MiB")) << file.error().text;
    EXPECT_TRUE(create_memfd("unit", 1 << 20));
}

TEST_F(memfd_test, read_only_descriptor_cannot_be_mapped_for_writing) {
    const auto file = create_memfd("unit", 4096);
    ASSERT_TRUE(file);
    const auto view = reopen_read_only(*file);
    ASSERT_TRUE(view);
    EXPECT_TRUE(check_sealed(*view, 4096));
    EXPECT_TRUE(mapping::shared(*view, 4096, protection::read_only));
    const auto writable = mapping::shared(*view, 4096, protection::read_write);
    ASSERT_FALSE(writable);
    EXPECT_EQ(writable.error().code, errc::permission_denied);
    EXPECT_TRUE(test::contains(writable.error().text, "read-only")) << writable.error().text;
    EXPECT_FALSE(reopen_read_only(descriptor{}));
}

TEST_F(memfd_test, received_descriptors_are_checked) {
    const auto refused = [](const result<void>& r) { return !r && r.error().code == errc::protocol_error; };
    const auto good = create_memfd("unit", 4096);
    ASSERT_TRUE(good);
    EXPECT_TRUE(refused(check_sealed(*good, 4097))) << "other size";
    EXPECT_TRUE(refused(check_sealed(*good, 4095)));

    const descriptor unsealed{::memfd_create("unit", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
    ASSERT_EQ(::ftruncate(unsealed.get(), 4096), 0);
    const auto answer = check_sealed(unsealed, 4096);
    ASSERT_TRUE(refused(answer));
    EXPECT_TRUE(test::contains(answer.error().text, "F_SEAL_SHRINK")) << answer.error().text;
    ASSERT_EQ(::fcntl(unsealed.get(), F_ADD_SEALS, F_SEAL_GROW), 0);
    EXPECT_TRUE(refused(check_sealed(unsealed, 4096))) << "sealed, but not against shrinking";

    const test::temporary_directory directory;
    const descriptor file{::open((directory / "file").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)};
    ASSERT_EQ(::ftruncate(file.get(), 4096), 0);
    EXPECT_TRUE(refused(check_sealed(file, 4096))) << "a file";
    const descriptor null{::open("/dev/null", O_RDWR | O_CLOEXEC)};
    EXPECT_TRUE(refused(check_sealed(null, 0))) << "a device";
    EXPECT_TRUE(refused(check_sealed(descriptor{}, 0))) << "nothing";

    // Huge pages: sealed and of the right size, yet a missing page would be a SIGBUS.
    const descriptor huge{::memfd_create("unit", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB)};
    if (huge && ::ftruncate(huge.get(), 2 << 20) == 0 && ::fcntl(huge.get(), F_ADD_SEALS, F_SEAL_SHRINK) == 0) {
        EXPECT_TRUE(refused(check_sealed(huge, 2 << 20)));
    }
}

}  // namespace
}  // namespace weft::os
