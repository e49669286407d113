#include "floor/slices.hpp"
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>
#include "floor/responder.hpp"

namespace weft::tool {
namespace {

// What was kept in one placement class.
struct kept_slices {
    std::vector<double> probes;
    std::vector<double> tests;
    std::vector<double> floors;
    std::vector<double> copied;
    std::vector<double> attached;
    std::vector<double> ratios;
    std::size_t attached_won = 0;
    std::size_t streaming_won = 0;
    histogram times;
};

struct slice {
    std::vector<double> probes;
    double test = 0;
    std::optional<floor_sample> floor;
    bool preempted = false;
};

result<slice> run_one(const slice_work& work, std::uint64_t duration_ns, histogram& times) {
    slice s;
    const auto probe = [&]() -> result<void> {
        auto figure = work.probe();
        if (!figure) return figure.error();
        s.probes.push_back(*figure);
        return {};
    };
    if (auto done = probe(); !done) return done.error();
    const std::uint64_t preempted_before = work.preemptions ? work.preemptions() : 0;
    const auto finished = [&]() -> slice& {
        s.preempted = work.preemptions && work.preemptions() != preempted_before;
        return s;
    };
    auto test = work.test(duration_ns, times);
    if (!test) return test.error();
    s.test = *test;
    if (auto done = probe(); !done) return done.error();
    if (!work.floor) return finished();
    auto floor = work.floor(duration_ns);
    if (!floor) return floor.error();
    s.floor = *floor;
    if (auto done = probe(); !done) return done.error();
    return finished();
}

// The class of a slice worth keeping.
std::optional<placement> class_of(const slice& s, double spread_max) {
    const auto [least, most] = std::minmax_element(s.probes.begin(), s.probes.end());
    if (*least <= 0 || *most > *least * spread_max) return {};
    const placement where = classify(*least);
    if (classify(*most) != where) return {};
    return where;
}

void keep(kept_slices& k, const slice& s, const histogram& times) {
    for (const double p : s.probes) k.probes.push_back(p);
    k.tests.push_back(s.test);
    k.times.merge(times);
    if (!s.floor) return;
    k.floors.push_back(s.floor->best);
    k.copied.push_back(s.floor->copied);
    k.attached.push_back(s.floor->attached);
    if (s.floor->how.how == mechanism::attach) ++k.attached_won;
    if (s.floor->how.how == mechanism::blocks && s.floor->how.copy_in == copy_routine::streaming) ++k.streaming_won;
    if (s.floor->best > 0) k.ratios.push_back(s.test / s.floor->best);
}

// Half a scheduler tick at 250 Hz or two at 1000 Hz.
constexpr std::uint64_t rest_ns = 2'000'000;

constexpr std::size_t index(placement p) noexcept { return static_cast<std::size_t>(p); }

using kept_by_class = std::array<kept_slices, placement_count>;

placement most_frequent(const kept_by_class& kept) {
    const auto more = [](const kept_slices& a, const kept_slices& b) { return a.tests.size() < b.tests.size(); };
    const auto most = std::max_element(kept.begin(), kept.end(), more);
    return static_cast<placement>(most - kept.begin());
}

// The class to report if the run may stop now.
std::optional<placement> settled(const kept_by_class& kept, const slice_settings& settings, std::uint64_t elapsed_ns) {
    if (elapsed_ns < settings.time_min_ns) return {};
    const std::size_t normal = kept[index(placement::one_cache)].tests.size();
    if (normal >= settings.kept_min) return placement::one_cache;
    if (normal != 0 || elapsed_ns < settings.other_class_ns) return {};
    const placement other = most_frequent(kept);
    if (kept[index(other)].tests.size() >= settings.kept_min) return other;
    return {};
}

// A run's state: what was kept, and what decides how it goes on.
struct slice_run {
    kept_by_class kept;
    histogram times;  // of the current slice
    std::size_t slices = 0;
    std::size_t preempted = 0;
    std::size_t preempted_in_a_row = 0;
    std::uint64_t duration_ns = 0;
};

void shorten(slice_run& run, const slice_settings& settings) {
    if (++run.preempted_in_a_row < settings.shorten_after) return;
    run.preempted_in_a_row = 0;
    run.duration_ns = std::max(run.duration_ns / 2, settings.duration_min_ns);
}

result<void> measure_slice(const slice_work& work, const slice_settings& settings, slice_run& run) {
    run.times.clear();
    auto one = run_one(work, run.duration_ns, run.times);
    if (!one) return one.error();
    ++run.slices;
    if (one->preempted) {
        ++run.preempted;
        shorten(run, settings);
        return work.rest ? work.rest() : result<void>{};
    }
    run.preempted_in_a_row = 0;
    if (const auto where = class_of(*one, settings.probe_spread_max)) keep(run.kept[index(*where)], *one, run.times);
    return {};
}

slice_report report(slice_run& run, placement where, std::size_t kept_min) {
    kept_slices& k = run.kept[index(where)];
    slice_report r;
    r.where = where;
    r.kept = k.tests.size();
    r.conclusive = r.kept >= kept_min;
    r.slices = run.slices;
    r.preempted = run.preempted;
    r.duration_ns = run.duration_ns;
    for (std::size_t i = 0; i < run.kept.size(); ++i) r.kept_by_class[i] = run.kept[i].tests.size();
    r.probe_ns = median(k.probes);
    r.test = median(k.tests);
    r.floor = median(k.floors);
    r.floor_copied = median(k.copied);
    r.floor_attached = median(k.attached);
    r.attached_won = k.attached_won;
    r.streaming_won = k.streaming_won;
    r.ratio = median(k.ratios);
    r.times = k.times;
    return r;
}

}  // namespace

result<slice_report> run_slices(const slice_work& work, const slice_settings& settings) {
    // On the heap: with their histograms the classes are larger than a stack frame should be.
    const auto run = std::make_unique<slice_run>();
    run->duration_ns = settings.duration_ns;
    const std::uint64_t start = work.now_ns();
    for (;;) {
        if (auto done = measure_slice(work, settings, *run); !done) return done.error();
        const std::uint64_t elapsed = work.now_ns() - start;
        if (const auto where = settled(run->kept, settings, elapsed)) return report(*run, *where, settings.kept_min);
        // Out of time: the normal class could not fill up; another one may have.
        if (elapsed >= settings.time_max_ns) return report(*run, most_frequent(run->kept), settings.kept_min);
    }
}

slice_work slices_over(partner_link& link, const floor_buffers& buffers, const floor_plan& plan,
                       std::function<result<double>(std::uint64_t, histogram&)> test) {
    return {.probe = [&link] { return probe(link); },
            .test = std::move(test),
            .floor = [&link, buffers, plan](std::uint64_t ns) { return sample(link, buffers, plan, ns); },
            .now_ns = [] { return cycle_clock::system_ns(); },
            .preemptions = [&link] { return link.preemptions(); },
            .rest = [&link] { return rest(link, rest_ns); }};
}

}  // namespace weft::tool
