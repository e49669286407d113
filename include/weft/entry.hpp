// Formats of completion queue entries. One queue has one format, fixed by its type.
//
// An entry carries its own outcome, so failures come from the same call and in the same order as successes.
// A leaner format costs fewer stores per operation. Layouts are part of the ABI (64-bit sizes, no padding).
#pragma once
#include <cstdint>
#include "status.hpp"
#include "types.hpp"

namespace weft {

enum class op : std::uint8_t { send = 0, recv = 1, write = 2, read = 3, atomic = 4, remote_write = 5 };

namespace entry {

// Bits of `flags`.
inline constexpr std::uint16_t has_data = 1u << 0;  // `data` was sent with the message

struct tokens {
    token context;
    status outcome;
    op what;
    std::uint8_t reserved;
    std::uint16_t flags;
};

struct message {
    token context;
    status outcome;
    op what;
    std::uint8_t reserved;
    std::uint16_t flags;
    std::uint64_t size;  // bytes placed into the buffer; for a truncated message fewer than were sent
    peer source;         // receives: who sent it; sends: the destination
    remote_data data;
};

struct tagged {
    token context;
    status outcome;
    op what;
    std::uint8_t reserved;
    std::uint16_t flags;
    std::uint64_t size;
    peer source;
    remote_data data;
    weft::tag tag;  // receives: the tag that was sent, also where bits of it were ignored
};

static_assert(sizeof(tokens) == 16 && sizeof(message) == 40 && sizeof(tagged) == 48);

}  // namespace entry
}  // namespace weft
