// A clock cheap enough to time single messages: the processor's time stamp counter, in ticks.
//
// Ticks are comparable between processes and cores of one machine (that is what "invariant" promises). Where the
// counter is not invariant, or there is none, ticks are nanoseconds of CLOCK_MONOTONIC_RAW; callers see no difference.
#pragma once
#include <time.h>
#include <cstdint>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace weft::tool {

class cycle_clock {
  public:
    // Compares the counter with the system's clock for about 10 ms, sleeping in between. Copy the result into
    // other processes (fork does) rather than calibrating twice.
    static cycle_clock calibrate() noexcept;

    // A clock that uses the system's clock, as on machines without an invariant counter.
    static cycle_clock of_system() noexcept { return {}; }

    std::uint64_t now() const noexcept {
#if defined(__x86_64__)
        if (uses_counter_) {
            // The fence keeps the counter from being read before the loads that ended a wait have completed.
            _mm_lfence();
            return __rdtsc();
        }
#endif
        return system_ns();
    }

    double to_ns(std::uint64_t ticks) const noexcept { return static_cast<double>(ticks) * ns_per_tick_; }
    std::uint64_t to_ticks(std::uint64_t ns) const noexcept {
        return static_cast<std::uint64_t>(static_cast<double>(ns) / ns_per_tick_);
    }
    bool uses_counter() const noexcept { return uses_counter_; }

    static std::uint64_t system_ns() noexcept {
        timespec t{};
        clock_gettime(CLOCK_MONOTONIC_RAW, &t);
        return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(t.tv_nsec);
    }

  private:
    double ns_per_tick_ = 1.0;
    bool uses_counter_ = false;
};

}  // namespace weft::tool
