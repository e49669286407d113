// A counter in the kernel that wakes whoever sleeps on its descriptor.
#pragma once
#include <cstdint>

#include <weft/result.hpp>
#include <weft/status.hpp>

#include "os/descriptor.hpp"

namespace weft::os {

class eventfd {
  public:
    eventfd() = default;
    // Non-blocking.
    static result<eventfd> create();
    // Takes over an eventfd received from a peer. errc::protocol_error if it is something else, such as a pipe on
    // which a write could block or raise a signal. Makes it non-blocking.
    static result<eventfd> adopt(descriptor received);

    // Wakes the sleeper. From any thread and process. A counter that is full already counts as success: it is
    // readable. errc::system_error when there is no descriptor.
    status signal() const noexcept;
    // Signals since the last drain; 0 if none. Never blocks.
    std::uint64_t drain() const noexcept;

    const descriptor& file() const noexcept { return file_; }
    explicit operator bool() const noexcept { return static_cast<bool>(file_); }

  private:
    explicit eventfd(descriptor file) noexcept : file_(std::move(file)) {}
    descriptor file_;
};

}  // namespace weft::os
