#include "base/spinlock.hpp"

#include "base/backoff.hpp"

namespace weft::base {

void spinlock::lock_contended() noexcept {
    backoff wait;
    do {
        // Only reads while it is held, so that the waiters share the line and leave the holder alone. Relaxed: the
        // exchange that follows is what synchronises.
        while (held_.load(std::memory_order_relaxed)) wait.pause();
    } while (held_.exchange(true, std::memory_order_acquire));  // pairs with the release in unlock()
}

}  // namespace weft::base
