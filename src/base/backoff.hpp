// What a thread does between two looks at something another thread will change.
#pragma once
#include <cstdint>

namespace weft::base {

// Tells the core that this is a spin loop: saves power, frees the sibling hyper-thread, and avoids the pipeline
// flush for mis-ordered loads when the awaited line finally changes.
inline void cpu_relax() noexcept { __builtin_ia32_pause(); }

// Gives the core to another runnable thread. Out of line so that hot headers need no <sched.h>.
void yield_cpu() noexcept;

// Pauses a bounded number of times, then yields: when there are more threads than cores, the one that is waited
// for may need this very core. Make a fresh one for each wait.
class backoff {
  public:
    // A pause is 40 to 140 cycles on current cores, so this is a few microseconds: longer than any critical
    // section of ours, shorter than a scheduler's time slice.
    static constexpr std::uint32_t spins_max = 64;

    void pause() noexcept {
        if (spins_ < spins_max) [[likely]] {
            ++spins_;
            cpu_relax();
        } else {
            yield_cpu();
        }
    }
    bool yielding() const noexcept { return spins_ >= spins_max; }

  private:
    std::uint32_t spins_ = 0;
};

}  // namespace weft::base
