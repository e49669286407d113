#include "base/spinlock.hpp"

#include <gtest/gtest.h>

#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

#include "base/backoff.hpp"

namespace weft::base {
namespace {

// More threads than the cores of a small machine, so that holders are preempted and the yielding path runs.
TEST(spinlock, excludes) {
    constexpr int threads = 4;
    constexpr int rounds = 20'000;
    spinlock lock;
    long count = 0;  // plain: a lost update or a data race shows
    {
        std::vector<std::jthread> workers;
        for (int t = 0; t < threads; ++t) {
            workers.emplace_back([&] {
                for (int i = 0; i < rounds; ++i) {
                    const std::lock_guard held(lock);
                    ++count;
                }
            });
        }
    }
    EXPECT_EQ(count, long{threads} * rounds);
}

TEST(spinlock, try_lock_excludes_too) {
    constexpr int rounds = 5'000;
    spinlock lock;
    long count = 0;
    {
        std::vector<std::jthread> workers;
        for (int t = 0; t < 3; ++t) {
            workers.emplace_back([&] {
                for (int i = 0; i < rounds; ++i) {
                    backoff wait;
                    while (!lock.try_lock()) wait.pause();
                    ++count;
                    lock.unlock();
                }
            });
        }
    }
    EXPECT_EQ(count, 3L * rounds);
}

TEST(spinlock, try_lock_tells_whether_it_is_held) {
    spinlock lock;
    ASSERT_TRUE(lock.try_lock());
    EXPECT_FALSE(lock.try_lock());
    lock.unlock();
    EXPECT_TRUE(lock.try_lock());
    lock.unlock();
}

TEST(no_lock, is_empty_and_always_free) {
    static_assert(std::is_empty_v<no_lock>);
    no_lock lock;
    const std::lock_guard held(lock);
    EXPECT_TRUE(lock.try_lock());
}

TEST(backoff, yields_after_its_spins) {
    backoff wait;
    for (std::uint32_t i = 0; i < backoff::spins_max; ++i) {
        EXPECT_FALSE(wait.yielding());
        wait.pause();
    }
    EXPECT_TRUE(wait.yielding());
    wait.pause();
    EXPECT_TRUE(wait.yielding());
}

}  // namespace
}  // namespace weft::base
