// Locks for sections of a few dozen instructions, and the empty lock for single-threaded instantiations.
//
// Uncontended: one atomic read-modify-write to lock, a plain store to unlock. Both classes have the interface of
// std::mutex, so std::lock_guard works on either and disappears for `no_lock`.
#pragma once
#include <atomic>

namespace weft::base {

class spinlock {
  public:
    spinlock() = default;
    spinlock(const spinlock&) = delete;
    spinlock& operator=(const spinlock&) = delete;

    void lock() noexcept {
        if (held_.exchange(true, std::memory_order_acquire)) [[unlikely]]  // pairs with the release in unlock()
            lock_contended();
    }
    bool try_lock() noexcept {
        return !held_.load(std::memory_order_relaxed) &&          // a hint only: do not take the line if it is lost
               !held_.exchange(true, std::memory_order_acquire);  // pairs with the release in unlock()
    }
    void unlock() noexcept { held_.store(false, std::memory_order_release); }  // pairs with the exchanges above

  private:
    void lock_contended() noexcept;

    std::atomic<bool> held_{false};
};

// For endpoints that were opened for one thread: no storage beyond the empty class, no instruction.
class no_lock {
  public:
    no_lock() = default;
    no_lock(const no_lock&) = delete;
    no_lock& operator=(const no_lock&) = delete;

    void lock() noexcept {}
    bool try_lock() noexcept { return true; }
    void unlock() noexcept {}
};

}  // namespace weft::base
