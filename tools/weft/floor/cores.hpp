// Which two processors a pair of measuring processes is pinned to.
//
// Best are two cores that share a last-level cache, then any two cores, then two threads of one core; with a single
// allowed processor both processes share it and every figure measures the scheduler: `note` says so.
#pragma once
#include <span>
#include <string>
#include <vector>
#include "weft/result.hpp"

namespace weft::tool {

struct processor {
    int id = 0;     // as in sched_setaffinity
    int core = 0;   // equal for two threads of one core: the lowest processor number among them
    int cache = 0;  // equal for processors sharing the last-level cache: the lowest processor number among them
};

struct core_pair {
    int initiator = 0;
    int responder = 0;
    std::string note;  // empty when the two are different cores under one cache; else a sentence for the user

    bool is_shared() const noexcept { return initiator == responder; }
};

// The processors this process may run on, from sched_getaffinity and /sys/devices/system/cpu. Where the latter is
// not readable each processor counts as a core of its own under one cache.
result<std::vector<processor>> allowed_processors();

// Precondition: `allowed` is not empty.
core_pair choose_cores(std::span<const processor> allowed);

// Pins the calling thread.
result<void> pin_to(int processor_id);

}  // namespace weft::tool
