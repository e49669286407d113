// Waiting for many descriptors at once.
//
// Level-triggered unless edge is asked for. Errors and hang-ups are always reported.
#pragma once
#include <cstdint>
#include <span>

#include <weft/result.hpp>
#include <weft/status.hpp>

#include "os/descriptor.hpp"

namespace weft::os {

// Bits of interest and of readiness; the kernel's numbers.
enum class ready : std::uint32_t {
    none = 0,
    readable = 0x001,      // EPOLLIN
    writable = 0x004,      // EPOLLOUT
    error = 0x008,         // EPOLLERR, reported without being asked for
    hang_up = 0x010,       // EPOLLHUP, reported without being asked for
    peer_closed = 0x2000,  // EPOLLRDHUP
    edge = 1u << 31,       // EPOLLET, interest only
};
constexpr ready operator|(ready a, ready b) noexcept {
    return static_cast<ready>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}
constexpr ready operator&(ready a, ready b) noexcept {
    return static_cast<ready>(static_cast<std::uint32_t>(a) & static_cast<std::uint32_t>(b));
}
constexpr bool any(ready r) noexcept { return r != ready::none; }

struct ready_event {
    std::uint64_t key = 0;  // what add() was given
    ready what = ready::none;
};

class epoll {
  public:
    static constexpr std::int64_t forever = -1;

    epoll() = default;
    static result<epoll> create();

    // `key` comes back with each event. A descriptor must be removed before it is closed if a duplicate of it lives
    // on somewhere (a peer may hold one), or its events go on.
    result<void> add(const descriptor& file, ready interest, std::uint64_t key);
    result<void> modify(const descriptor& file, ready interest, std::uint64_t key);
    // Nothing happens if it is not in the set.
    void remove(const descriptor& file) noexcept;

    // Waits until something is ready or `timeout_ns` have passed (0: only looks; negative: forever). The filled front
    // of `room`, empty at the timeout and also when a signal interrupted the wait: the caller looks at its deadline.
    std::span<ready_event> wait(std::span<ready_event> room, std::int64_t timeout_ns) noexcept;

    const descriptor& file() const noexcept { return file_; }
    explicit operator bool() const noexcept { return static_cast<bool>(file_); }

  private:
    explicit epoll(descriptor file) noexcept : file_(std::move(file)) {}
    result<void> control(int operation, const descriptor& file, ready interest, std::uint64_t key);
    int wait_kernel(void* events, int count, std::int64_t timeout_ns) noexcept;

    descriptor file_;
    bool nanoseconds_ = true;  // epoll_pwait2 (Linux 5.11) is there and not filtered
};

}  // namespace weft::os
