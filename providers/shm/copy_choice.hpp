// How large messages from one process are copied: pipelined through shared memory, with or without the sender's caches,
// or pulled by cross-memory attach.
//
// Nothing is assumed about the machine: whether a pull is possible is tried against the real peer, and which way is
// faster is measured on the first large messages from it and looked at again from time to time.
#pragma once
#include <sys/types.h>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "protocol/records.hpp"

namespace weft::shm {

enum class copy_mode : std::uint8_t { automatic, pipeline, cross_memory };

// Shared by the endpoints that talk to one process, from any of their threads: all state is atomic, and a race costs
// a less than perfect choice and nothing else.
class copy_choice {
  public:
    // `pid` comes from the live socket's credentials; 0: the peer cannot be named here, nothing is ever pulled.
    copy_choice(copy_mode, pid_t, std::uint64_t probe_address, std::uint64_t probe_value) noexcept;

    // `can_pull`: the bytes are contiguous at the sender.
    protocol::copy_way choose(std::uint64_t size, bool can_pull) noexcept;
    void record(protocol::copy_way, std::uint64_t size, std::uint64_t ns) noexcept;
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
    // What is known about messages of one power of two, since each way has a cost per message besides that per byte.
    // Smoothed, in picoseconds per byte; 0: not measured yet.
    struct size_class {
        std::array<std::atomic<std::uint64_t>, protocol::copy_ways> cost{};
        std::atomic<std::uint32_t> messages{0};

        protocol::copy_way cheapest() const noexcept;
    };
    static constexpr std::size_t size_classes = 10;  // 32 KiB, 64 KiB, ... 16 MiB and more
    size_class& class_of(std::uint64_t size) noexcept;
    const size_class& most_used() const noexcept;

    std::array<size_class, size_classes> classes_;
};

}  // namespace weft::shm
