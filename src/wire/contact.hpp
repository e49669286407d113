// Datagrams by which two shm domains meet: who is there, which version, which endpoints want a channel, or why not.
//
// Each datagram is complete in itself and of fixed size. Every field that arrives is checked by `decode`, which is
// also a fuzz target. Layout: docs/wire.md.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include "base/random.hpp"

namespace weft::wire {

inline constexpr std::uint64_t contact_magic = 0x316d687374666577;  // "wefthsm1" read as little endian
inline constexpr std::uint32_t contact_version = 1;

enum class contact_kind : std::uint32_t {
    open = 1,    // initiator: a channel from `from` to `to`, memory attached
    accept = 2,  // acceptor: channel `from` -> `to` is in use (endpoints as in the open)
    refuse = 3,  // acceptor: not possible, see `reason` and `text`
    close = 4,   // either: endpoint `from` has closed its channel to `to`
};

enum class contact_reason : std::uint32_t {
    none = 0,
    version = 1,      // the other side speaks another version
    no_endpoint = 2,  // no endpoint of that number (any more)
    permission = 3,   // another user
    geometry = 4,     // rings of other sizes
    memory = 5,       // cannot map the memory: limits
    malformed = 6,    // not understood
    descriptors = 7,  // no number free for the memory's descriptor
};

struct contact {
    contact_kind kind = contact_kind::open;
    std::uint32_t version = contact_version;
    base::identity from;  // endpoint that sends the datagram (for accept/refuse: the initiator, as in the open)
    base::identity to;
    contact_reason reason = contact_reason::none;
    std::uint64_t region_size = 0;    // bytes of the attached memory
    std::uint64_t probe_address = 0;  // where the sender keeps `probe_value`, for trying cross-memory attach
    std::uint64_t probe_value = 0;
    std::uint32_t ring_slots = 0;
    std::uint32_t eager_bytes = 0;
    std::uint32_t bulk_bytes = 0;
    std::array<char, 128> text{};  // refuse: one sentence, NUL-terminated

    std::string_view reason_text() const noexcept;
    void set_text(std::string_view) noexcept;
};

inline constexpr std::size_t contact_size = 256;
std::array<std::byte, contact_size> encode(const contact&) noexcept;

// What a datagram that is no contact has wrong.
enum class contact_fault { none, size, magic, version, kind, identity, reason, text };
struct decoded_contact {
    contact_fault fault = contact_fault::none;
    contact value;  // complete if fault is none; with fault version: kind, version and identities as far as they go
};
decoded_contact decode(std::span<const std::byte>) noexcept;

}  // namespace weft::wire
