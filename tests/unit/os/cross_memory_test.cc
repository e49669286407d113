#include "os/cross_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <limits>
#include <vector>

#include "os/mapping.hpp"
#include "support.hpp"

namespace weft::os {
namespace {

using cross_memory_test = test::no_leaks;

std::uint64_t address(const void* at) { return reinterpret_cast<std::uintptr_t>(at); }

// A child holding a copy of our memory at the same addresses, that waits until it is ended.
class sleeping_child {
  public:
    sleeping_child() {
        int ends[2] = {-1, -1};
        if (::pipe(ends) != 0) return;
        pid_ = ::fork();
        if (pid_ == 0) {
            ::close(ends[1]);
            char byte;
            ::_exit(static_cast<int>(::read(ends[0], &byte, 1)));  // ends with its parent, too
        }
        ::close(ends[0]);
        hold_ = ends[1];
    }
    ~sleeping_child() { end(); }
    sleeping_child(const sleeping_child&) = delete;
    sleeping_child& operator=(const sleeping_child&) = delete;
    void end() {
        if (hold_ >= 0) ::close(std::exchange(hold_, -1));
        int status = 0;
        if (pid_ > 0) ::waitpid(pid_, &status, 0);
    }
    pid_t pid() const { return pid_; }

  private:
    pid_t pid_ = -1;
    int hold_ = -1;
};

TEST_F(cross_memory_test, reads_and_writes_another_process) {
    std::vector<char> theirs(100'000, 'a');
    sleeping_child child;
    std::ranges::fill(theirs, 'b');  // ours only
    std::vector<char> here(theirs.size());
    const auto answer = read_from(child.pid(), here.data(), address(theirs.data()), here.size());
    if (answer.outcome == cross_memory_outcome::not_permitted) GTEST_SKIP() << explain(answer);
    ASSERT_TRUE(answer) << explain(answer);
    EXPECT_EQ(answer.copied, here.size());
    EXPECT_EQ(here, std::vector<char>(theirs.size(), 'a'));
    std::ranges::fill(here, 'c');
    ASSERT_TRUE(write_to(child.pid(), here.data(), address(theirs.data()), 50));
    ASSERT_TRUE(read_from(child.pid(), here.data(), address(theirs.data()) + 49, 2));
    EXPECT_EQ(here[0], 'c');
    EXPECT_EQ(here[1], 'a');
    EXPECT_TRUE(read_from(child.pid(), nullptr, 0, 0)) << "nothing is always there";
}

TEST_F(cross_memory_test, a_hole_ends_the_copy_and_is_told_from_success) {
    const std::size_t page = page_size();
    auto range = mapping::anonymous(3 * page);
    ASSERT_TRUE(range);
    std::memset(range->data(), 'x', range->size());
    ASSERT_EQ(::munmap(range->data() + page, page), 0);
    std::vector<char> here(3 * page);
    const auto answer = read_from(::getpid(), here.data(), address(range->data()), here.size());
    if (answer.outcome == cross_memory_outcome::not_permitted) GTEST_SKIP() << explain(answer);
    EXPECT_EQ(answer.outcome, cross_memory_outcome::bad_address);
    EXPECT_EQ(answer.native, EFAULT);
    EXPECT_EQ(answer.copied, page);
    EXPECT_EQ(here[page - 1], 'x');
    EXPECT_TRUE(test::contains(explain(answer), std::to_string(page)));
    EXPECT_EQ(code_of(answer.outcome), errc::invalid_argument);

    EXPECT_EQ(read_from(::getpid(), here.data(), 0, 8).outcome, cross_memory_outcome::bad_address);
    constexpr auto top = std::numeric_limits<std::uint64_t>::max();
    EXPECT_EQ(read_from(::getpid(), here.data(), top - 4, 8).outcome, cross_memory_outcome::bad_address)
        << "wraps round";
}

TEST_F(cross_memory_test, a_dead_process_is_gone) {
    char byte = 0;
    sleeping_child child;
    child.end();
    const auto answer = read_from(child.pid(), &byte, address(&byte), 1);
    EXPECT_EQ(answer.outcome, cross_memory_outcome::process_gone);
    EXPECT_EQ(code_of(answer.outcome), errc::peer_gone);
    for (const pid_t pid : {0, -1}) EXPECT_EQ(read_from(pid, &byte, address(&byte), 1).native, ESRCH);
}

TEST_F(cross_memory_test, a_forbidden_process_is_told_so) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root to make a process of another user";
    char byte = 'q';
    // The child drops its user, and with it the right to look into its parent.
    const int status = test::in_child([&, parent = ::getpid()] {
        if (::setgid(65534) != 0 || ::setuid(65534) != 0) return 1;
        const auto answer = read_from(parent, &byte, address(&byte), 1);
        if (answer.outcome != cross_memory_outcome::not_permitted) return 2;
        if (code_of(answer.outcome) != errc::permission_denied) return 3;
        return test::contains(explain(answer), "not permitted") ? 0 : 4;
    });
    EXPECT_EQ(status, 0);
}

TEST_F(cross_memory_test, every_outcome_has_a_sentence_and_a_code) {
    for (const auto outcome :
         {cross_memory_outcome::complete, cross_memory_outcome::not_permitted, cross_memory_outcome::process_gone,
          cross_memory_outcome::bad_address, cross_memory_outcome::not_available, cross_memory_outcome::failed}) {
        EXPECT_FALSE(explain({outcome, 0, EIO}).empty());
        EXPECT_EQ(code_of(outcome) == errc::ok, outcome == cross_memory_outcome::complete);
    }
}

}  // namespace
}  // namespace weft::os
