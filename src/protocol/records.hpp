// Bookkeeping of operations in flight: pieces of vectored calls, unexpected messages, both ends of a rendezvous.
#pragma once
#include <weft/plugin.h>
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>
#include <weft/status.hpp>
#include "base/copy_streaming.hpp"
#include "base/intrusive_list.hpp"
#include "match/posted_list.hpp"
#include "match/unexpected_list.hpp"
#include "wire/message.hpp"

namespace weft::protocol {

inline constexpr std::size_t pieces_max = 16;  // of a vectored call

// A vectored call's pieces, copied because the caller's array is only valid during the call.
struct piece_list {
    std::array<weft_piece, pieces_max> pieces;
    std::size_t count = 0;

    // Calls `f(std::byte*, n)` for the parts of [offset, offset + size), in order.
    template <class F>
    void for_range(std::uint64_t offset, std::uint64_t size, F&& f) const noexcept {
        for (std::size_t i = 0; i < count && size > 0; ++i) {
            if (offset >= pieces[i].size) {
                offset -= pieces[i].size;
                continue;
            }
            const std::uint64_t n = std::min<std::uint64_t>(pieces[i].size - offset, size);
            f(static_cast<std::byte*>(pieces[i].data) + offset, static_cast<std::size_t>(n));
            size -= n;
            offset = 0;
        }
    }
};

// Where a message comes from. Both kinds have the same members, so that the code for them is written once.
struct contiguous_source {
    const std::byte* data;
    std::uint64_t size;

    void copy_to(std::byte* to, std::uint64_t offset, std::uint64_t n) const noexcept {
        if (n != 0) std::memcpy(to, data + offset, n);
    }
};
struct gathered_source {
    const piece_list* list;
    std::uint64_t size;

    void copy_to(std::byte* to, std::uint64_t offset, std::uint64_t n) const noexcept {
        list->for_range(offset, n, [&](const std::byte* from, std::size_t part) {
            std::memcpy(to, from, part);
            to += part;
        });
    }
};

// Where a message goes: one buffer, or pieces.
struct destination {
    std::byte* data = nullptr;
    piece_list* list = nullptr;  // when not null, `data` is not used; belongs to the endpoint's pool
    std::uint64_t size = 0;

    void copy_from(const std::byte* from, std::uint64_t offset, std::uint64_t n) const noexcept {
        if (n == 0) return;
        if (list == nullptr) {
            std::memcpy(data + offset, from, n);
            return;
        }
        list->for_range(offset, n, [&](std::byte* to, std::size_t part) {
            std::memcpy(to, from, part);
            from += part;
        });
    }
};

// How the bytes of a large message get to the receiver.
enum class copy_way : std::uint8_t {
    pipeline,   // the sender copies segments into the shared area, the receiver out of it
    streaming,  // the same, past the sender's caches
    pull,       // the receiver reads the sender's memory
};
inline constexpr std::size_t copy_ways = 3;

// `posted_receive::user` when a receive is out of the ordinary. The hot path tests the word against zero.
inline constexpr std::uint32_t receive_scattered = 1u << 0;  // `buffer` points to a piece_list
inline constexpr std::uint32_t receive_quiet = 1u << 1;      // no completion on success

// An outstanding rendezvous at the sender.
struct outgoing : base::list_hook<> {  // in peer_state::granted while segments are to be sent
    std::uint64_t id = 0;
    void* channel = nullptr;
    void* context = nullptr;
    contiguous_source source{};
    piece_list* list = nullptr;  // when not null, the source is these pieces
    std::uint64_t size = 0;
    std::uint64_t tag = 0;
    std::uint64_t receiver = 0;  // the transfer's number there, once granted
    std::uint64_t next = 0, end = 0;  // bytes still to be sent
    bool granted = false;
    bool streaming = false, long_segments = false;  // as the grant asked
    bool quiet = false;

    void copy_to(std::byte* to, std::uint64_t offset, std::uint64_t n) const noexcept {
        if (list != nullptr)
            gathered_source{list, size}.copy_to(to, offset, n);
        else if (streaming)
            base::copy_streaming(to, source.data + offset, n);
        else
            source.copy_to(to, offset, n);
    }
};

// A rendezvous at the receiver, from its match to its last byte.
struct incoming : base::list_hook<> {  // in the endpoint's list of pulls while it is pulled
    std::uint64_t id = 0;
    void* channel = nullptr;
    void* context = nullptr;
    destination to;
    std::uint64_t sent_size = 0;  // of the message
    std::uint64_t wanted = 0;     // bytes that will be placed: less than sent when truncated
    std::uint64_t done = 0;
    std::uint64_t tag = 0;
    std::uint64_t data = 0;
    std::uint64_t sender = 0;   // the operation's number there
    std::uint64_t address = 0;  // of the bytes there
    std::uint64_t started_ns = 0;
    std::uint16_t flags = 0;
    bool quiet = false;
    copy_way way = copy_way::pipeline;
};

// A message without a receive. Small payloads lie in the record, larger ones in memory of their own.
struct unexpected_message : match::unexpected_link {
    wire::kind what = wire::kind::none;  // of the packet it came in
    std::uint16_t flags = 0;
    void* channel = nullptr;   // rendezvous: where the bytes wait; null after the peer is gone
    std::uint64_t size = 0;
    std::uint64_t data = 0;
    std::uint64_t sender = 0, address = 0;  // rendezvous
    std::byte* stored = nullptr;            // payload: points to `room` or to its own memory
    std::byte room[wire::payload_max];
};

// A packet for the control lane that found no room there.
struct pending_control {
    wire::kind what = wire::kind::none;
    std::uint64_t key = 0;
    std::array<std::byte, wire::payload_max> body{};
};

// How the engine sees a peer's channel; transports derive their channel from it and add the lanes.
enum class channel_state : std::uint8_t {
    absent,   // no channel yet: the next send makes contact
    open,
    closing,  // the peer is gone; what it had sent is still being taken
    gone,
};
struct peer_state {
    std::uint64_t peer = 0;       // index in the address vector
    std::uint32_t bulk_work = 0;  // rendezvous with this peer, and pending controls: the control lane is polled
    channel_state state = channel_state::absent;
    bool backlog = false;  // held more messages than the last poll had room for
    base::intrusive_list<outgoing> granted;
    std::vector<pending_control> pending;
};

}  // namespace weft::protocol
