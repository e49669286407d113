// How large messages from one process are copied: pipelined through shared memory, or pulled by cross-memory attach.
//
// Nothing is assumed about the machine: whether a pull is possible is tried against the real peer, and which way is
// faster is measured on the first large messages from it and looked at again from time to time.
#pragma once
#include <sys/types.h>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace weft::shm {

enum class copy_mode : std::uint8_t { automatic, pipeline, cross_memory };

// Shared by the endpoints that talk to one process, from any of their threads: all state is atomic, and a race costs
// a less than perfect choice and nothing else.
class copy_choice {
  public:
    // `pid` comes from the live socket's credentials; 0: the peer cannot be named here, nothing is ever pulled.
    copy_choice(copy_mode, pid_t, std::uint64_t probe_address, std::uint64_t probe_value) noexcept;

    bool prefers_pull(std::uint64_t size) noexcept;
    void record(bool pulled, std::uint64_t size, std::uint64_t ns) noexcept;
    // False when the bytes could not be had; after a refusal by the kernel nothing is pulled any more.
    bool pull(std::byte* to, std::uint64_t from, std::uint64_t n) noexcept;
    const char* name() const noexcept;

  private:
    enum class permission : std::uint8_t { unknown, granted, denied };
    void probe() noexcept;

    copy_mode mode_;
    pid_t pid_;
    std::uint64_t probe_address_, probe_value_;
    std::atomic<permission> permission_;
    // Smoothed cost of each way in picoseconds per byte; 0: not measured yet.
    std::atomic<std::uint64_t> pipeline_cost_{0}, pull_cost_{0};
    std::atomic<std::uint32_t> messages_{0};
};

}  // namespace weft::shm
