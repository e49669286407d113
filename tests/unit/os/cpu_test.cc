#include "os/cpu.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <thread>

namespace weft::os {
namespace {

// On threads of their own, so that the pinning ends with them.
TEST(cpu, pins_and_restores_a_thread) {
    std::jthread([] {
        const auto before = allowed_cpus();
        ASSERT_TRUE(before);
        ASSERT_FALSE(before->empty());
        EXPECT_TRUE(std::ranges::is_sorted(*before));
        for (const int cpu : *before) {
            ASSERT_TRUE(pin_this_thread(cpu));
            EXPECT_EQ(*allowed_cpus(), std::vector<int>{cpu});
            EXPECT_EQ(::sched_getcpu(), cpu);
        }
        ASSERT_TRUE(pin_this_thread(*before));
        EXPECT_EQ(*allowed_cpus(), *before);
    });
}

TEST(cpu, impossible_cores_are_failures) {
    std::jthread([] {
        EXPECT_EQ(pin_this_thread(-1).error().code, errc::invalid_argument);
        EXPECT_EQ(pin_this_thread(1 << 30).error().code, errc::invalid_argument);
        const auto far = pin_this_thread((1 << 20) - 1);
        ASSERT_FALSE(far);
        EXPECT_EQ(far.error().code, errc::invalid_argument);
        EXPECT_FALSE(pin_this_thread(std::vector<int>{}));
        EXPECT_TRUE(allowed_cpus()) << "still somewhere";
    });
}

}  // namespace
}  // namespace weft::os
