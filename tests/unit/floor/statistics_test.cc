#include "floor/statistics.hpp"
#include <gtest/gtest.h>
#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include "floor/cycle_clock.hpp"

namespace weft::tool {
namespace {

TEST(histogram, is_empty_at_first) {
    const histogram h;
    EXPECT_EQ(h.count(), 0u);
    EXPECT_EQ(h.min(), 0u);
    EXPECT_EQ(h.max(), 0u);
    EXPECT_EQ(h.percentile(50), 0u);
}

TEST(histogram, small_values_are_exact) {
    histogram h;
    for (std::uint64_t v = 1; v <= 100; ++v) h.record(v);
    EXPECT_EQ(h.percentile(0), 1u);
    EXPECT_EQ(h.percentile(1), 1u);
    EXPECT_EQ(h.percentile(50), 50u);
    EXPECT_EQ(h.percentile(99), 99u);
    EXPECT_EQ(h.percentile(100), 100u);
}

TEST(histogram, percentiles_agree_with_sorting) {
    constexpr unsigned seed = 20240607;
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> exponent(0, 39);  // all magnitudes alike
    histogram h;
    std::vector<std::uint64_t> values;
    for (int i = 0; i < 20000; ++i) {
        values.push_back(static_cast<std::uint64_t>(std::exp2(exponent(random))));
        h.record(values.back());
    }
    std::sort(values.begin(), values.end());
    for (const double percent : {0.1, 1.0, 25.0, 50.0, 90.0, 99.0, 99.9, 100.0}) {
        const auto rank = static_cast<std::size_t>(std::ceil(percent / 100 * 20000)) - 1;
        const double exact = static_cast<double>(values[rank]);
        EXPECT_NEAR(static_cast<double>(h.percentile(percent)), exact, exact / 128 + 1)
            << percent << " % with seed " << seed;
    }
}

TEST(histogram, clamps_what_is_too_large) {
    histogram h;
    h.record(~std::uint64_t{0});
    EXPECT_EQ(h.count(), 1u);
    EXPECT_EQ(h.max(), histogram::value_max);
    EXPECT_LE(h.percentile(50), histogram::value_max);
}

TEST(histogram, merging_is_recording_both) {
    histogram a;
    histogram b;
    histogram both;
    a.record(10, 3);
    both.record(10, 3);
    b.record(100000, 2);
    both.record(100000, 2);
    b.record(5, 0);
    a.merge(b);
    a.merge(histogram{});
    EXPECT_EQ(a.count(), 5u);
    EXPECT_EQ(a.min(), 10u);
    EXPECT_EQ(a.max(), 100000u);
    for (const double percent : {1.0, 60.0, 61.0, 100.0}) EXPECT_EQ(a.percentile(percent), both.percentile(percent));
    a.clear();
    EXPECT_EQ(a.count(), 0u);
}

TEST(median, is_the_middle) {
    std::vector<double> none;
    std::vector<double> odd{9, 1, 5};
    std::vector<double> skewed{1, 1, 1, 1000, 1};
    EXPECT_EQ(median(none), 0);
    EXPECT_EQ(median(odd), 5);
    EXPECT_EQ(median(skewed), 1);
}

void expect_agreement_with_the_system(const cycle_clock& clock) {
    const std::uint64_t ns_before = cycle_clock::system_ns();
    const std::uint64_t ticks_before = clock.now();
    while (cycle_clock::system_ns() < ns_before + 5'000'000) {
    }
    const std::uint64_t ticks = clock.now() - ticks_before;
    const double ns = static_cast<double>(cycle_clock::system_ns() - ns_before);
    // Being interrupted between the readings makes the outer interval longer, never the inner one.
    EXPECT_LE(clock.to_ns(ticks), ns * 1.001);
    EXPECT_GE(clock.to_ns(ticks), 5'000'000 * 0.99);
    EXPECT_NEAR(static_cast<double>(clock.to_ticks(static_cast<std::uint64_t>(clock.to_ns(ticks)))),
                static_cast<double>(ticks), 4.0);
}

TEST(cycle_clock, agrees_with_the_system) { expect_agreement_with_the_system(cycle_clock::calibrate()); }
TEST(cycle_clock, has_a_fallback) {
    EXPECT_FALSE(cycle_clock::of_system().uses_counter());
    expect_agreement_with_the_system(cycle_clock::of_system());
}

}  // namespace
}  // namespace weft::tool
