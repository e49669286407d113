// Protocol engine, part: posting receives, and what arrives.
#pragma once
#include <algorithm>
#include "base/copy_small.hpp"
#include "protocol/endpoint.hpp"

namespace weft::protocol {

// ---- posting --------------------------------------------------------------------------------------------------

template <class Transport, spi::traits T>
template <bool Tagged>
inline status endpoint<Transport, T>::receive_plain(std::byte* p, std::size_t n, std::uint64_t from, std::uint64_t tag,
                                                    std::uint64_t ignore, void* c) noexcept {
    const guard locked(queue_->lock());
    if (shut()) [[unlikely]]
        return errc::closed;
    if (unexpected<Tagged>().empty() && (ignore | ~from) == 0) [[likely]] {
        if (match::posted_receive* const r = posted<Tagged>().add_plain(tag); r != nullptr) [[likely]] {
            r->buffer = p;
            r->size = n;
            r->token = c;
            r->user = 0;
            return {};
        }
    }
    return receive_slow<Tagged>(p, n, from, tag, ignore, c);
}

template <class Transport, spi::traits T>
template <bool Tagged>
[[gnu::noinline]] status endpoint<Transport, T>::receive_slow(std::byte* p, std::size_t n, std::uint64_t from,
                                                              std::uint64_t tag, std::uint64_t ignore,
                                                              void* c) noexcept {
    return start_receive<Tagged>(destination{p, nullptr, n}, from, tag, ignore, receive_options{.context = c});
}

template <class Transport, spi::traits T>
template <bool Tagged>
[[gnu::noinline]] status endpoint<Transport, T>::receive_message(const weft_message& m, std::uint32_t flags) noexcept {
    if ((flags & ~std::uint32_t{WEFT_QUIET}) != 0) return errc::not_supported;
    if (m.count > pieces_max || (m.count != 0 && m.pieces == nullptr)) return errc::invalid_argument;
    const guard locked(queue_->lock());
    if (shut()) [[unlikely]]
        return errc::closed;
    receive_options options{.context = m.context, .user = (flags & WEFT_QUIET) != 0 ? receive_quiet : 0};
    if (m.count == 1)
        return start_receive<Tagged>(destination{static_cast<std::byte*>(m.pieces[0].data), nullptr, m.pieces[0].size},
                                     m.peer, m.tag, m.ignore, options);
    std::uint64_t size = 0;
    for (std::size_t i = 0; i < m.count; ++i)
        if (__builtin_add_overflow(size, m.pieces[i].size, &size)) return errc::invalid_argument;
    piece_list* const list = piece_pool_.acquire();
    if (list == nullptr) return errc::try_again;
    std::copy_n(m.pieces, m.count, list->pieces.begin());
    list->count = m.count;
    options.user |= receive_scattered;
    const status s = start_receive<Tagged>(destination{nullptr, list, size}, m.peer, m.tag, m.ignore, options);
    if (!s) piece_pool_.release(list);
    return s;
}

// On success the pieces in `to`, if any, belong to the operation.
template <class Transport, spi::traits T>
template <bool Tagged>
status endpoint<Transport, T>::start_receive(const destination& to, std::uint64_t from, std::uint64_t tag,
                                             std::uint64_t ignore, const receive_options& options) noexcept {
    if (from != match::any_source) {
        if (from >= channel_count_ && (from >= transport_->known_peers() || !grow_channels(transport_->known_peers())))
            return errc::invalid_argument;
    }
    if (unexpected_message* const u = unexpected<Tagged>().find(tag, ignore, from); u != nullptr)
        return take_unexpected<Tagged>(*u, to, options);
    if (from != match::any_source && channels_[from]->state == channel_state::gone) return errc::peer_gone;

    match::posted_receive* const r = posted<Tagged>().add(tag, ignore, from);
    if (r == nullptr) return errc::try_again;
    r->buffer = to.list != nullptr ? reinterpret_cast<std::byte*>(to.list) : to.data;
    r->size = to.size;
    r->token = options.context;
    r->user = options.user;
    return {};
}

template <class Transport, spi::traits T>
template <bool Tagged>
status endpoint<Transport, T>::take_unexpected(unexpected_message& u, const destination& to,
                                               const receive_options& options) noexcept {
    if (!queue_->has_room() && !queue_->make_room()) return errc::try_again;
    const bool quiet = (options.user & receive_quiet) != 0;
    if (u.channel != nullptr) {
        const wire::rendezvous_body body{u.size, u.sender, u.address, u.data};
        if (!begin_incoming(*static_cast<channel*>(u.channel), to, options.context, quiet, u.tag, body, u.flags))
            return errc::try_again;
    } else {
        const std::uint64_t n = std::min(u.size, to.size);
        to.copy_from(u.stored, 0, n);
        const errc outcome = u.size > to.size ? errc::truncated : errc::ok;
        if (!quiet || outcome != errc::ok)
            report(options.context, op::recv, outcome, n, u.source, u.tag, u.data, u.flags);
        piece_pool_.release(to.list);
    }
    unexpected<Tagged>().remove(u);
    free_unexpected(u);
    return {};
}

template <class Transport, spi::traits T>
destination endpoint<Transport, T>::destination_of(const match::posted_receive& r) const noexcept {
    if ((r.user & receive_scattered) != 0) return {nullptr, reinterpret_cast<piece_list*>(r.buffer), r.size};
    return {r.buffer, nullptr, r.size};
}

// ---- arrival --------------------------------------------------------------------------------------------------

// Requires that a packet is ready. Takes what the channel holds as long as there is room for entries.
template <class Transport, spi::traits T>
[[gnu::noinline]] auto endpoint<Transport, T>::take_messages(channel& ch, entry_type* out, entry_type* end) noexcept
    -> entry_type* {
    std::uint32_t others = 0;  // bounds one peer's turn when its messages make no entries
    do {
        if (out == end) [[unlikely]]
            return out;
        if (take_small(ch, out)) {
            ++out;
            continue;
        }
        queue_->direct_to(out, end);
        const bool taken = take_other(ch, ch.main_rx.front());
        out = queue_->direct_back();
        if (!taken || ++others == Transport::burst) return out;
    } while (ch.main_rx.ready());
    return out;
}

// Requires that a packet is ready. False: nothing has changed, it is a case for take_other().
template <class Transport, spi::traits T>
[[gnu::always_inline]] inline bool endpoint<Transport, T>::take_small(channel& ch, entry_type* at) noexcept {
    const auto& packet = ch.main_rx.at_front();
    const std::uint32_t what = ch.main_rx.front_kind();
    if (const std::uint32_t n = what - static_cast<std::uint32_t>(wire::kind::tagged_small); n <= Transport::inline_max)
        return take_small<true>(ch, packet.key, packet.payload, n, at);
    if (const std::uint32_t n = what - static_cast<std::uint32_t>(wire::kind::msg_small); n <= Transport::inline_max)
        return take_small<false>(ch, 0, packet.payload, n, at);
    return false;
}

// The usual case of all: a small message for a receive into one buffer. False: it is another case.
template <class Transport, spi::traits T>
template <bool Tagged>
[[gnu::always_inline]] inline bool endpoint<Transport, T>::take_small(channel& ch, std::uint64_t tag,
                                                                      const std::byte* payload, std::uint32_t n,
                                                                      entry_type* at) noexcept {
    match::posted_receive** const link = posted<Tagged>().find_only_plain(tag);
    if (link == nullptr) [[unlikely]]
        return false;
    match::posted_receive* const r = match::posted_list::at(link);
    if (r->user != 0 || n > r->size) [[unlikely]]
        return false;
    posted<Tagged>().take_at(link);
    queue_type::write(*at, {r->token, errc::ok, op::recv, 0, n, ch.peer, 0, tag});
    std::byte* const to = r->buffer;
    posted<Tagged>().release(r);
    ch.main_rx.pop();
    base::copy_small(to, payload, n);  // last: the compiler must assume that it changes anything
    return true;
}

// False: the packet stays where it is and is looked at again later.
template <class Transport, spi::traits T>
[[gnu::noinline]] bool endpoint<Transport, T>::take_other(channel& ch, std::uint64_t word) noexcept {
    const auto& packet = ch.main_rx.at_front();
    const std::uint32_t n = wire::header::size_of(word);
    bool taken = false;
    if (const std::uint32_t small = wire::header::small_size_of(word, wire::kind::tagged_small);
        small <= Transport::inline_max) {
        taken = arrive<true>(ch, packet.key, packet.payload, small, 0, 0);
        if (taken) ch.main_rx.pop();
        return taken;
    }
    if (const std::uint32_t small = wire::header::small_size_of(word, wire::kind::msg_small);
        small <= Transport::inline_max) {
        taken = arrive<false>(ch, 0, packet.payload, small, 0, 0);
        if (taken) ch.main_rx.pop();
        return taken;
    }
    switch (wire::header::kind_of(word)) {
        case wire::kind::msg_data:
        case wire::kind::tagged_data: {
            if (n > Transport::inline_data_max) break;
            std::uint64_t data = 0;
            std::memcpy(&data, packet.payload, sizeof data);
            const std::byte* const payload = packet.payload + sizeof data;
            taken = wire::header::kind_of(word) == wire::kind::msg_data
                        ? arrive<false>(ch, 0, payload, n, data, entry::has_data)
                        : arrive<true>(ch, packet.key, payload, n, data, entry::has_data);
            if (taken) ch.main_rx.pop();
            return taken;
        }
        case wire::kind::msg_eager: return arrive_eager<false>(ch, word, false);
        case wire::kind::msg_eager_data: return arrive_eager<false>(ch, word, true);
        case wire::kind::tagged_eager: return arrive_eager<true>(ch, word, false);
        case wire::kind::tagged_eager_data: return arrive_eager<true>(ch, word, true);
        case wire::kind::msg_rendezvous: return arrive_rendezvous<false>(ch, false);
        case wire::kind::msg_rendezvous_data: return arrive_rendezvous<false>(ch, true);
        case wire::kind::tagged_rendezvous: return arrive_rendezvous<true>(ch, false);
        case wire::kind::tagged_rendezvous_data: return arrive_rendezvous<true>(ch, true);
        default: break;
    }
    fault(ch, "sent a message of an unknown kind or size");
    return false;
}

template <class Transport, spi::traits T>
template <bool Tagged>
bool endpoint<Transport, T>::arrive(channel& ch, std::uint64_t tag, const std::byte* payload, std::uint32_t n,
                                    std::uint64_t data, std::uint16_t flags) noexcept {
    match::posted_receive* const r = posted<Tagged>().take(ch.peer, tag);
    if (r == nullptr) [[unlikely]]
        return keep_unexpected<Tagged>(ch, tag, payload, n, data, flags);
    if (r->user != 0) [[unlikely]] {
        deliver_special(ch, *r, tag, payload, n, data, flags);
    } else {
        const std::uint64_t placed = n <= r->size ? n : r->size;
        if (placed != 0) std::memcpy(r->buffer, payload, placed);
        report(r->token, op::recv, n <= r->size ? errc::ok : errc::truncated, placed, ch.peer, tag, data, flags);
    }
    posted<Tagged>().release(r);
    return true;
}

template <class Transport, spi::traits T>
template <bool Tagged>
bool endpoint<Transport, T>::arrive_eager(channel& ch, std::uint64_t word, bool with_data) noexcept {
    const auto& packet = ch.main_rx.at_front();
    const std::uint32_t n = wire::header::size_of(word);
    const auto body = wire::read_body<wire::eager_body>(packet.payload);
    const std::byte* const payload = ch.main_rx.data(body.position, n);
    if (payload == nullptr) {
        fault(ch, "named bytes outside the shared data area");
        return false;
    }
    if (!arrive<Tagged>(ch, Tagged ? packet.key : 0, payload, n, with_data ? body.data : 0,
                        with_data ? entry::has_data : std::uint16_t{0}))
        return false;
    ch.main_rx.pop_data(body.position, n);
    return true;
}

template <class Transport, spi::traits T>
template <bool Tagged>
bool endpoint<Transport, T>::arrive_rendezvous(channel& ch, bool with_data) noexcept {
    const auto& packet = ch.main_rx.at_front();
    const auto body = wire::read_body<wire::rendezvous_body>(packet.payload);
    if (body.size > Transport::message_max) {
        fault(ch, "announced a message beyond any limit");
        return false;
    }
    const bool alive = ch.state == channel_state::open;  // else its bytes will not come any more
    if (alive && incoming_.size() >= limits_.rendezvous) return false;
    const std::uint64_t tag = Tagged ? packet.key : 0;
    const std::uint16_t flags = with_data ? entry::has_data : std::uint16_t{0};
    match::posted_receive* const r = posted<Tagged>().take(ch.peer, tag);
    if (r != nullptr) {
        const bool begun =
            alive && begin_incoming(ch, destination_of(*r), r->token, (r->user & receive_quiet) != 0, tag, body, flags);
        if (!begun) {  // the receive has been taken out, so it must end here
            report(r->token, op::recv, alive ? errc::no_memory : errc::peer_gone, 0, ch.peer, tag,
                   with_data ? body.data : 0, flags);
            if ((r->user & receive_scattered) != 0) piece_pool_.release(destination_of(*r).list);
        }
        posted<Tagged>().release(r);
    } else if (alive) {
        unexpected_message* const u = new_unexpected(0);
        if (u == nullptr) return false;
        u->tag = tag;
        u->source = ch.peer;
        u->flags = flags;
        u->channel = &ch;
        u->size = body.size;
        u->data = with_data ? body.data : 0;
        u->sender = body.sender;
        u->address = body.address;
        unexpected<Tagged>().add(*u);
    }
    ch.main_rx.pop();
    return true;
}

// A receive into pieces, or one without a completion.
template <class Transport, spi::traits T>
[[gnu::noinline]] void endpoint<Transport, T>::deliver_special(channel& ch, match::posted_receive& r, std::uint64_t tag,
                                                               const std::byte* payload, std::uint64_t n,
                                                               std::uint64_t data, std::uint16_t flags) noexcept {
    const destination to = destination_of(r);
    const std::uint64_t placed = std::min(n, to.size);
    to.copy_from(payload, 0, placed);
    const errc outcome = n > to.size ? errc::truncated : errc::ok;
    if ((r.user & receive_quiet) == 0 || outcome != errc::ok)
        report(r.token, op::recv, outcome, placed, ch.peer, tag, data, flags);
    piece_pool_.release(to.list);
}

// ---- unexpected messages --------------------------------------------------------------------------------------

// Null when the endpoint's bound on unexpected data is reached: the message then stays with its sender.
template <class Transport, spi::traits T>
unexpected_message* endpoint<Transport, T>::new_unexpected(std::uint64_t payload) noexcept {
    const std::uint64_t cost = sizeof(unexpected_message) + payload;
    if (unexpected_bytes_ + cost > limits_.unexpected_bytes) return nullptr;
    unexpected_message* const u = unexpected_pool_.acquire();
    if (u == nullptr) return nullptr;
    u->stored = u->room;
    if (payload > sizeof u->room) {
        u->stored = static_cast<std::byte*>(::operator new(payload, std::nothrow));
        if (u->stored == nullptr) {
            unexpected_pool_.release(u);
            return nullptr;
        }
    }
    unexpected_bytes_ += cost;
    return u;
}

template <class Transport, spi::traits T>
void endpoint<Transport, T>::free_unexpected(unexpected_message& u) noexcept {
    const std::uint64_t payload = u.channel == nullptr ? u.size : 0;
    unexpected_bytes_ -= sizeof(unexpected_message) + payload;
    if (u.stored != u.room) ::operator delete(u.stored);
    unexpected_pool_.release(&u);
}

template <class Transport, spi::traits T>
template <bool Tagged>
[[gnu::noinline]] bool endpoint<Transport, T>::keep_unexpected(channel& ch, std::uint64_t tag, const std::byte* payload,
                                                               std::uint32_t n, std::uint64_t data,
                                                               std::uint16_t flags) noexcept {
    unexpected_message* const u = new_unexpected(n);
    if (u == nullptr) return false;
    if (n != 0) std::memcpy(u->stored, payload, n);
    u->tag = tag;
    u->source = ch.peer;
    u->flags = flags;
    u->channel = nullptr;
    u->size = n;
    u->data = data;
    unexpected<Tagged>().add(*u);
    return true;
}

}  // namespace weft::protocol
