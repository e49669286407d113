#include "floor/cycle_clock.hpp"
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace weft::tool {

#if defined(__x86_64__)
namespace {

// AMD64 Architecture Programmer's Manual vol. 3, CPUID Fn8000_0007_EDX[8] (Intel SDM vol. 3, 18.17.1, the same bit).
bool counter_is_invariant() noexcept {
    unsigned a = 0;
    unsigned b = 0;
    unsigned c = 0;
    unsigned d = 0;
    return __get_cpuid(0x80000007u, &a, &b, &c, &d) != 0 && (d & (1u << 8)) != 0;
}

struct reading {
    std::uint64_t ticks = 0;
    std::uint64_t ns = 0;
};

// Both clocks at one moment: of several attempts the one during which the least time passed, so that being
// interrupted between the two readings does not count.
reading read_both() noexcept {
    reading best;
    std::uint64_t narrowest = ~std::uint64_t{0};
    for (int attempt = 0; attempt < 16; ++attempt) {
        const std::uint64_t before = __rdtsc();
        const std::uint64_t ns = cycle_clock::system_ns();
        const std::uint64_t width = __rdtsc() - before;
        if (width < narrowest) {
            narrowest = width;
            best = {before + width / 2, ns};
        }
    }
    return best;
}

}  // namespace
#endif

cycle_clock cycle_clock::calibrate() noexcept {
    cycle_clock clock;
#if defined(__x86_64__)
    if (!counter_is_invariant()) return clock;
    const reading first = read_both();
    // 10 ms against readings that are some 50 ns apart: an error of 10 parts per million.
    const timespec pause{.tv_sec = 0, .tv_nsec = 10'000'000};
    nanosleep(&pause, nullptr);
    const reading second = read_both();
    if (second.ticks <= first.ticks || second.ns <= first.ns) return clock;  // a counter that does not count
    clock.ns_per_tick_ = static_cast<double>(second.ns - first.ns) / static_cast<double>(second.ticks - first.ticks);
    clock.uses_counter_ = true;
#endif
    return clock;
}

}  // namespace weft::tool
