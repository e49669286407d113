// Layout of the memory that two endpoints share: one lane set per direction.
//
// Each line is written by one side only, except slots and data, whose ownership passes with the sequence number in
// the slot (to the consumer) and with the released counters (back to the producer).
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include "shm/limits.hpp"
#include "wire/message.hpp"

namespace weft::shm {

struct alignas(64) slot {
    std::atomic<std::uint64_t> word;  // wire::header, published last
    std::uint64_t key;                // tag, or the operation's number
    std::byte payload[wire::payload_max];
};
static_assert(sizeof(slot) == 64 && std::atomic<std::uint64_t>::is_always_lock_free);

// Written by the consumer, read by a producer whose count says that the ring may be full.
struct alignas(64) released {
    std::atomic<std::uint64_t> slots;
    std::atomic<std::uint64_t> bytes;
};

// Written by the producer, once.
struct alignas(64) producer_flags {
    std::atomic<std::uint32_t> closed;  // bytes pulled from the producer's memory after this was set are not valid
};

struct direction {
    released ring_released;
    released bulk_released;
    producer_flags producer;
    alignas(limits::release_batch * 64) slot ring[limits::ring_slots];  // see consumer::batch_ends
    slot bulk[limits::bulk_slots];
    alignas(4096) std::byte eager_data[limits::eager_bytes];
    alignas(4096) std::byte bulk_data[limits::bulk_bytes];
};

struct region {
    direction to_acceptor;  // messages from the endpoint that opened the channel
    direction to_initiator;
};

}  // namespace weft::shm
