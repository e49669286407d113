// Measures in slices of a few milliseconds and keeps only those during which the processors demonstrably stayed put.
//
// A slice is probe, test, probe, floor, probe. It is kept when its probes agree, lie in one placement class, and no
// process was preempted meanwhile. Every figure of the report comes from kept slices of one class, and ratios are
// taken slice by slice, with the floor measured next to the test. Too few kept slices within the time make the
// report inconclusive: neither good nor bad.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include "floor/floor.hpp"
#include "floor/probe.hpp"
#include "floor/statistics.hpp"
#include "weft/result.hpp"

namespace weft::tool {

struct slice_settings {
    std::size_t kept_min = 20;                      // = 20: what a report needs to be conclusive
    std::uint64_t time_min_ns = 300'000'000;        // = 0.3 s: some 40 slices on a quiet machine
    std::uint64_t time_max_ns = 60'000'000'000;     // = 60 s: then the run gives up
    std::uint64_t other_class_ns = 5'000'000'000;   // = 5 s: without one slice of the normal class, another will do
    double probe_spread_max = 1.3;                  // = 1.3: largest probe over smallest
    // = 3 ms: of the test, and of the floor. On a machine busy with other programs no process keeps its processor
    // that long; each time `shorten_after` slices in a row were preempted the duration is halved, down to the least.
    std::uint64_t duration_ns = 3'000'000;
    std::uint64_t duration_min_ns = 400'000;  // = 0.4 ms: still twenty times what starting a measurement costs
    std::size_t shorten_after = 8;  // = 8
};

// What one slice does, on the initiator's side. `probe` answers half a round trip in ns; `test` runs the test for
// about the given ns, records single times (ns) if it has them, and answers the slice's figure in the floor's unit;
// `floor` may be empty, then there are no ratios. `now_ns` is any clock that rises. `preemptions`, where there is
// one, counts how often either process lost its processor; `rest` is called after a slice in which one did.
struct slice_work {
    std::function<result<double>()> probe;
    std::function<result<double>(std::uint64_t duration_ns, histogram&)> test;
    std::function<result<floor_sample>(std::uint64_t duration_ns)> floor;
    std::function<std::uint64_t()> now_ns;
    std::function<std::uint64_t()> preemptions;
    std::function<result<void>()> rest;
};

struct slice_report {
    bool conclusive = false;
    placement where = placement::one_cache;  // the class all figures belong to
    std::size_t kept = 0;  // slices of that class the figures come from
    std::size_t slices = 0;  // slices measured
    std::size_t preempted = 0;  // slices thrown away because a process lost its processor
    std::array<std::size_t, placement_count> kept_by_class{};
    std::uint64_t duration_ns = 0;  // of the last test
    double probe_ns = 0;  // medians from here on; 0 when nothing was kept or there is no floor
    double test = 0;
    double floor = 0;
    double floor_copied = 0;
    double floor_attached = 0;
    std::size_t attached_won = 0;  // kept slices whose floor was the cross-memory attach
    std::size_t streaming_won = 0;  // kept slices whose floor was a copy past the caches
    double ratio = 0;  // test over floor: for latency at least about 1, for rates at most about 1
    histogram times;  // merged from the kept slices
};

// A failure of one of the callables ends the run and is returned.
result<slice_report> run_slices(const slice_work& work, const slice_settings& settings = {});

// For two processes connected by a link: probes and the floor of `plan`, with the test handed in. The link outlives
// what is returned.
slice_work slices_over(partner_link& link, const floor_buffers& buffers, const floor_plan& plan,
                       std::function<result<double>(std::uint64_t duration_ns, histogram&)> test);

}  // namespace weft::tool
