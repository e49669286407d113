// Two clocks: `cycles` for differences inside one thread, `now_ns` for deadlines.
//
// Neither enters the kernel on a normal x86-64 host: one is an instruction, the other a vdso call.
#pragma once
#include <cstdint>
#include <ctime>

namespace weft::base {

// The time stamp counter. Not serialising: the processor may move it a few instructions either way. Comparable
// between cores only where the counter is invariant and synchronised, which is why deadlines use now_ns().
inline std::uint64_t cycles() noexcept { return __builtin_ia32_rdtsc(); }

// Nanoseconds of CLOCK_MONOTONIC: the same origin for all processes of a host (but not of a time namespace).
inline std::uint64_t now_ns() noexcept {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);  // cannot fail: the clock exists and the address is ours
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace weft::base
