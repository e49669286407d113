// The slice machinery alone, with a script in place of two processes and a clock that it moves itself.
#include "floor/slices.hpp"
#include <gtest/gtest.h>
#include <memory>

namespace weft::tool {
namespace {

// Each slice takes 10 ms of invented time; `probe_ns` answers the probe of a slice (0, 1, ...) and place (0, 1, 2).
struct script {
    std::function<double(std::size_t slice, int place)> probe_ns = [](std::size_t, int) { return 60.0; };
    std::function<double(std::size_t slice)> test = [](std::size_t) { return 200.0; };
    std::function<double(std::size_t slice)> floor = [](std::size_t) { return 100.0; };
    std::function<bool(std::size_t slice)> is_preempted = [](std::size_t) { return false; };

    std::size_t slice = 0;
    int place = 0;
    std::uint64_t now = 1;
    std::uint64_t preemptions = 0;
    std::size_t rests = 0;
    std::vector<std::uint64_t> durations;

    slice_work work() {
        return {.probe = [this]() -> result<double> {
                    const double ns = probe_ns(slice, place);
                    if (++place == 3) {
                        place = 0;
                        ++slice;
                        now += 10'000'000;
                    }
                    return ns;
                },
                .test = [this](std::uint64_t duration_ns, histogram& times) -> result<double> {
                    durations.push_back(duration_ns);
                    if (is_preempted(slice)) ++preemptions;
                    const double figure = test(slice);
                    times.record(static_cast<std::uint64_t>(figure), 10);
                    return figure;
                },
                .floor = [this](std::uint64_t) -> result<floor_sample> {
                    const double figure = floor(slice);
                    return floor_sample{.best = figure, .copied = figure, .attached = figure + 1, .how = {}};
                },
                .now_ns = [this] { return now; },
                .preemptions = [this] { return preemptions; },
                .rest = [this]() -> result<void> {
                    ++rests;
                    return {};
                }};
    }
};

std::unique_ptr<slice_report> run(script& s, const slice_settings& settings = {}) {
    auto r = run_slices(s.work(), settings);
    EXPECT_TRUE(r);
    return std::make_unique<slice_report>(*r);
}

TEST(slices, quiet_machine) {
    script s;
    const auto r = run(s);
    EXPECT_TRUE(r->conclusive);
    EXPECT_EQ(r->where, placement::one_cache);
    EXPECT_EQ(r->kept, r->slices);
    EXPECT_EQ(r->slices, 30u);  // 0.3 s of 10 ms each
    EXPECT_EQ(r->test, 200);
    EXPECT_EQ(r->floor, 100);
    EXPECT_EQ(r->floor_attached, 101);
    EXPECT_EQ(r->ratio, 2);
    EXPECT_EQ(r->probe_ns, 60);
    EXPECT_EQ(r->times.count(), 300u);
}

TEST(slices, figures_come_from_kept_slices_only) {
    script s;
    // Two of three slices are disturbed, by a moving probe or by preemption, and their figures are absurd.
    s.probe_ns = [](std::size_t slice, int place) { return slice % 3 == 1 && place == 1 ? 240.0 : 60.0; };
    s.is_preempted = [](std::size_t slice) { return slice % 3 == 2; };
    s.test = [](std::size_t slice) { return slice % 3 == 0 ? 200.0 : 90000.0; };
    s.floor = [](std::size_t slice) { return slice % 3 == 0 ? 100.0 : 7.0; };
    const auto r = run(s);
    EXPECT_TRUE(r->conclusive);
    EXPECT_EQ(r->kept, 20u);
    EXPECT_GT(r->slices, 55u);
    EXPECT_EQ(r->preempted, s.rests);
    EXPECT_GT(r->preempted, 15u);
    EXPECT_EQ(r->test, 200);
    EXPECT_EQ(r->floor, 100);
    EXPECT_EQ(r->ratio, 2);
    EXPECT_EQ(r->times.count(), 10 * r->kept);
    EXPECT_LE(r->times.max(), 200u);
}

TEST(slices, ratios_are_taken_slice_by_slice) {
    script s;
    // Test and floor drift together: the ratio stays 2 although the medians belong to no common slice.
    s.floor = [](std::size_t slice) { return 50.0 + static_cast<double>(slice); };
    s.test = [](std::size_t slice) { return 2 * (50.0 + static_cast<double>(slice)); };
    EXPECT_EQ(run(s)->ratio, 2);
}

TEST(slices, probes_near_each_other_but_in_two_classes_do_not_count) {
    script s;
    s.probe_ns = [](std::size_t, int place) { return place == 0 ? 39.0 : 41.0; };
    slice_settings settings;
    settings.time_max_ns = 1'000'000'000;
    const auto r = run(s, settings);
    EXPECT_FALSE(r->conclusive);
    EXPECT_EQ(r->kept, 0u);
    EXPECT_EQ(r->slices, 100u);
    EXPECT_EQ(r->ratio, 0);
}

TEST(slices, another_class_does_when_the_normal_one_never_shows) {
    script s;
    s.probe_ns = [](std::size_t, int) { return 240.0; };
    const auto r = run(s);
    EXPECT_TRUE(r->conclusive);
    EXPECT_EQ(r->where, placement::two_caches);
    EXPECT_EQ(r->slices, 500u);  // only after 5 s
    EXPECT_EQ(r->kept_by_class[static_cast<std::size_t>(placement::two_caches)], r->kept);
}

TEST(slices, normal_class_is_waited_for_once_it_was_seen) {
    script s;
    // One slice in a hundred is normal: 20 of them within 20 s.
    s.probe_ns = [](std::size_t slice, int) { return slice % 100 == 99 ? 60.0 : 240.0; };
    s.test = [](std::size_t slice) { return slice % 100 == 99 ? 200.0 : 900.0; };
    const auto r = run(s);
    EXPECT_TRUE(r->conclusive);
    EXPECT_EQ(r->where, placement::one_cache);
    EXPECT_EQ(r->kept, 20u);
    EXPECT_EQ(r->slices, 2000u);
    EXPECT_EQ(r->test, 200);
}

TEST(slices, gives_up_with_the_most_frequent_class) {
    script s;
    s.probe_ns = [](std::size_t slice, int) { return slice == 5 ? 60.0 : 1000.0; };
    const auto r = run(s);
    EXPECT_EQ(r->slices, 6000u);  // 60 s
    EXPECT_TRUE(r->conclusive);
    EXPECT_EQ(r->where, placement::far);
    EXPECT_EQ(r->kept, 5999u);
}

TEST(slices, always_preempted_is_inconclusive_and_shortens) {
    script s;
    s.is_preempted = [](std::size_t) { return true; };
    slice_settings settings;
    settings.time_max_ns = 2'000'000'000;
    const auto r = run(s, settings);
    EXPECT_FALSE(r->conclusive);
    EXPECT_EQ(r->preempted, r->slices);
    EXPECT_EQ(s.durations.front(), settings.duration_ns);
    EXPECT_EQ(s.durations[settings.shorten_after], settings.duration_ns / 2);
    EXPECT_EQ(s.durations.back(), settings.duration_min_ns);
}

TEST(slices, works_without_floor_preemptions_and_rest) {
    script s;
    slice_work work = s.work();
    work.floor = nullptr;
    work.preemptions = nullptr;
    work.rest = nullptr;
    work.now_ns = [&s] { return s.now += 5'000'000; };
    const auto r = run_slices(work);
    ASSERT_TRUE(r);
    EXPECT_TRUE(r->conclusive);
    EXPECT_EQ(r->test, 200);
    EXPECT_EQ(r->floor, 0);
    EXPECT_EQ(r->ratio, 0);
}

TEST(slices, failures_come_through) {
    script s;
    slice_work work = s.work();
    work.test = [](std::uint64_t, histogram&) -> result<double> { return failure{errc::peer_gone, 0, "gone"}; };
    const auto r = run_slices(work);
    ASSERT_FALSE(r);
    EXPECT_EQ(r.error().code, errc::peer_gone);
}

TEST(placement, classes) {
    EXPECT_EQ(classify(26), placement::one_core);
    EXPECT_EQ(classify(62), placement::one_cache);
    EXPECT_EQ(classify(120), placement::one_cache);
    EXPECT_EQ(classify(230), placement::two_caches);
    EXPECT_EQ(classify(1000), placement::far);
}

}  // namespace
}  // namespace weft::tool
