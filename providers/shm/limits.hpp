// Every bound of the shm provider, with its reason.
#pragma once
#include <cstddef>
#include <cstdint>
#include "wire/message.hpp"

namespace weft::shm::limits {

// Slots of the message ring of one direction, 64 bytes each. A power of two below 2^16 (a slot's sequence number has
// 16 bits). 2048 slots are 128 KiB: a quarter of a second-level cache, so that what a sender writes ahead has left its
// own first-level cache when the receiver fetches it, and 40 microseconds of work at 50 M messages/s.
inline constexpr std::uint32_t ring_slots = 2048;
// Released slots are told to the producer in batches. 64 slots are a page, which aligns them in every mapping; the
// shared line is then written once in 64 messages.
inline constexpr std::uint32_t release_batch = 64;

// Slots of the bulk lane (grants, segments). Segments are 16 KiB and more but for the last of a message, so
// 128 slots are more than the bulk area holds, with room for grants.
inline constexpr std::uint32_t bulk_slots = 128;
inline constexpr std::uint32_t bulk_release_batch = 1;  // segments are long; their room is wanted back at once

// Largest payload beside the header in one slot.
inline constexpr std::uint32_t inline_max = wire::payload_max;
inline constexpr std::uint32_t inline_data_max = wire::payload_max - wire::remote_data_size;

// Data area for eager messages. Three eighths is the largest message for which the space rule (see ring.hpp) cannot
// starve; the default threshold lies far below.
inline constexpr std::uint32_t eager_bytes = 256u << 10;
inline constexpr std::uint32_t eager_max_limit = eager_bytes / 4;
inline constexpr std::uint32_t eager_max_default = 16u << 10;
inline constexpr std::uint32_t eager_max_least = 256;

// Data area for segments of large messages.
inline constexpr std::uint32_t bulk_bytes = 2u << 20;
inline constexpr std::uint32_t segment_max = 128u << 10;
inline constexpr std::uint32_t segment_first = 16u << 10;  // short, so that the receiver starts early

// Messages: what 64-bit lengths and offsets allow; a bound so that sums cannot overflow.
inline constexpr std::uint64_t message_max = std::uint64_t{1} << 46;
inline constexpr std::uint32_t iov_max = 16;  // pieces of a vectored call: fits one kilobyte of bookkeeping
inline constexpr std::uint64_t posted_receives_max = 1u << 20;
inline constexpr std::uint64_t rendezvous_max = 1u << 16;  // outstanding per endpoint, each direction

// Unexpected data an endpoint keeps before it stops taking messages from its peers.
inline constexpr std::uint64_t unexpected_bytes_default = 64u << 20;

// Bytes one pull (cross-memory attach) may take in one poll: bounds the time others wait, about 50 us at 10 GB/s.
inline constexpr std::uint64_t pull_step = 512u << 10;

// Slots fetched ahead from a channel with a backlog: a line comes in 70 ns and more, a message takes 10 to 20.
inline constexpr std::size_t lines_ahead = 8;

// Packets taken from one peer before the next peer's turn.
inline constexpr std::uint32_t burst = 64;

inline constexpr int listen_backlog = 512;
// Datagrams one peer process may leave unread (beyond what its socket holds) before the connection ends: more than any
// honest burst of contacts, and a megabyte.
inline constexpr std::size_t unread_max = 4096;
inline constexpr std::uint64_t queue_depth_max = 1u << 22;

}  // namespace weft::shm::limits
