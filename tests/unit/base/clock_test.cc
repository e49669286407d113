#include "base/clock.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace weft::base {
namespace {

TEST(clock, never_goes_back_and_does_advance) {
    const std::uint64_t start = now_ns();
    const std::uint64_t start_cycles = cycles();
    std::uint64_t last = start;
    while (last == start) {
        const std::uint64_t now = now_ns();
        ASSERT_GE(now, last);
        last = now;
    }
    EXPECT_NE(cycles(), start_cycles);
}

TEST(clock, is_the_steady_clock_in_nanoseconds) {
    const auto steady = [] {
        return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch() /
                                          std::chrono::nanoseconds(1));
    };
    const std::uint64_t before = steady();
    const std::uint64_t now = now_ns();
    const std::uint64_t after = steady();
    EXPECT_LE(before, now);
    EXPECT_LE(now, after);
}

}  // namespace
}  // namespace weft::base
