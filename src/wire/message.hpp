// Headers of the messages that protocol engines exchange: 16 bytes, then up to 48 bytes of payload.
//
// A header and a small payload fill one cache line, the unit in which processors exchange data. The layout is
// described for people in docs/wire.md. All fields are in host order: a peer on another host is reached by
// transports that convert. Nothing here does input or output.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace weft::wire {

// What a packet is. Values are part of the protocol; the *_data kinds lie `data_kinds` above their plain ones. Small
// messages carry their size in the kind, from *_small (0 bytes) to *_small + payload_max: a receiver then learns both
// from one byte.
enum class kind : std::uint8_t {
    none = 0,
    // Messages. Order within one peer pair is the order of these packets.
    msg_eager = 2,          // payload lies in the transport's data area
    msg_rendezvous = 3,     // payload stays with the sender until a receive matches: `rendezvous_body`
    tagged_eager = 5,
    tagged_rendezvous = 6,
    msg_data = 7,           // payload in the packet, behind eight bytes of remote data
    msg_eager_data = 8,     // as the plain ones, with eight bytes of remote data in the body
    msg_rendezvous_data = 9,
    tagged_data = 10,
    tagged_eager_data = 11,
    tagged_rendezvous_data = 12,
    // Control of rendezvous, on a lane of its own so that it passes messages that wait for a receive.
    grant = 16,             // receiver to sender: send the bytes `grant_body` says of rendezvous `key`
    segment = 17,           // sender to receiver: bytes of transfer `key`, in the data area
    finished = 18,          // receiver to sender: rendezvous `key` needs no more bytes
    // Payload in the packet; the size is in the kind and nowhere else.
    tagged_small = 64,      // to 112
    msg_small = 128,        // to 176
};
inline constexpr std::uint8_t data_kinds = 6;
constexpr kind with_data(kind k) noexcept { return static_cast<kind>(static_cast<std::uint8_t>(k) + data_kinds); }

// First eight bytes of a packet in one word, so that a transport can publish a packet with one store: sequence number
// (the transport's; a slot is full when it is the expected one), kind, zero, size of what lies in the data area or of
// a *_data payload.
struct header {
    static constexpr std::uint64_t pack(std::uint16_t sequence, kind k, std::uint32_t size) noexcept {
        return std::uint64_t{sequence} | std::uint64_t{static_cast<std::uint8_t>(k)} << 16 | std::uint64_t{size} << 32;
    }
    // A small message: `k` is tagged_small or msg_small, `n` at most payload_max.
    static constexpr std::uint64_t pack_small(std::uint16_t sequence, kind k, std::size_t n) noexcept {
        return (std::uint64_t{n} << 16) + (std::uint64_t{static_cast<std::uint8_t>(k)} << 16) + sequence;
    }
    static constexpr std::uint16_t sequence_of(std::uint64_t word) noexcept { return static_cast<std::uint16_t>(word); }
    static constexpr kind kind_of(std::uint64_t word) noexcept { return static_cast<kind>((word >> 16) & 0xff); }
    static constexpr std::uint32_t size_of(std::uint64_t word) noexcept {
        return static_cast<std::uint32_t>(word >> 32);
    }
    // Bytes of a small message of kind `k`; more than payload_max when the packet is something else.
    static constexpr std::uint32_t small_size_of(std::uint64_t word, kind k) noexcept {
        return ((static_cast<std::uint32_t>(word) >> 16) & 0xff) - static_cast<std::uint32_t>(k);
    }
};

inline constexpr std::size_t packet_size = 64;  // one cache line
inline constexpr std::size_t payload_max = 48;  // beside header and tag
inline constexpr std::size_t remote_data_size = 8;

// Bodies of packets that carry no user payload. Plain copies in and out of the 48 bytes.
struct eager_body {
    std::uint64_t position = 0;  // in the data area, modulo its size
    std::uint64_t data = 0;      // remote data, for the *_data kinds
};
struct rendezvous_body {
    std::uint64_t size = 0;     // bytes of the message
    std::uint64_t sender = 0;   // names the operation at the sender; comes back in grant and finished
    std::uint64_t address = 0;  // of the bytes in the sender's memory, 0 if they are not contiguous
    std::uint64_t data = 0;
};
inline constexpr std::uint64_t grant_streaming = 1;  // copy past the sender's caches
// Long segments from the start: the receiver is busy with other transfers until they come.
inline constexpr std::uint64_t grant_long = 2;
struct grant_body {
    std::uint64_t offset = 0;    // first byte wanted: more than 0 when pulling stopped half-way
    std::uint64_t size = 0;      // end of the bytes wanted, at most the size announced
    std::uint64_t receiver = 0;   // names the transfer at the receiver; comes back in segments
    std::uint64_t how = 0;       // grant_streaming, grant_long
};
struct segment_body {
    std::uint64_t position = 0;  // in the bulk data area
    std::uint64_t offset = 0;    // in the message
};
template <class Body>
inline Body read_body(const std::byte* payload) noexcept {
    static_assert(sizeof(Body) <= payload_max);
    Body b;
    std::memcpy(&b, payload, sizeof b);
    return b;
}
template <class Body>
inline void write_body(std::byte* payload, const Body& b) noexcept {
    static_assert(sizeof(Body) <= payload_max);
    std::memcpy(payload, &b, sizeof b);
}

}  // namespace weft::wire
