// Protocol engine, part: starting a message.
#pragma once
#include "protocol/endpoint.hpp"

namespace weft::protocol {

template <class Transport, spi::traits T>
template <bool Tagged, bool Quiet>
inline status endpoint<Transport, T>::send_plain(const std::byte* p, std::size_t n, std::uint64_t to, std::uint64_t tag,
                                                 void* c) noexcept {
    const guard locked(queue_->lock());
    if (shut()) [[unlikely]]
        return errc::closed;
    if (to < channel_count_) [[likely]] {
        channel& ch = *channels_[to];
        queue_type& queue = *queue_;
        const auto count = ch.main_tx.next();
        entry_type* const at = queue.next();
        if (n <= Transport::inline_max && ch.main_tx.is_slot(count) && (Quiet || queue.is_room(at))) [[likely]] {
            ch.main_tx.put_small(count, Tagged ? wire::kind::tagged_small : wire::kind::msg_small, tag, p, n);
            if constexpr (!Quiet) queue.emit_at(at, {c, errc::ok, op::send, 0, n, to, 0, tag});
            return {};
        }
    }
    return send_slow<Tagged, Quiet>(p, n, to, tag, c);
}

template <class Transport, spi::traits T>
template <bool Tagged>
inline status endpoint<Transport, T>::inject_plain(const std::byte* p, std::size_t n, std::uint64_t to,
                                                   std::uint64_t tag) noexcept {
    const guard locked(queue_->lock());
    if (shut()) [[unlikely]]
        return errc::closed;
    if (to < channel_count_) [[likely]] {
        channel& ch = *channels_[to];
        const auto count = ch.main_tx.next();
        if (n <= Transport::inline_max && ch.main_tx.is_slot(count)) [[likely]] {
            ch.main_tx.put_small(count, Tagged ? wire::kind::tagged_small : wire::kind::msg_small, tag, p, n);
            return {};
        }
    }
    return inject_slow<Tagged>(p, n, to, tag);
}

template <class Transport, spi::traits T>
template <bool Tagged, bool Quiet>
[[gnu::noinline]] status endpoint<Transport, T>::send_slow(const std::byte* p, std::size_t n, std::uint64_t to,
                                                           std::uint64_t tag, void* c) noexcept {
    return start_send<Tagged>(contiguous_source{p, n}, to, tag, c, send_options{.quiet = Quiet});
}

template <class Transport, spi::traits T>
template <bool Tagged>
[[gnu::noinline]] status endpoint<Transport, T>::inject_slow(const std::byte* p, std::size_t n, std::uint64_t to,
                                                             std::uint64_t tag) noexcept {
    return start_send<Tagged>(contiguous_source{p, n}, to, tag, nullptr, send_options{.quiet = true, .inject = true});
}

template <class Transport, spi::traits T>
template <bool Tagged>
[[gnu::noinline]] status endpoint<Transport, T>::send_message(const weft_message& m, std::uint32_t flags) noexcept {
    constexpr std::uint32_t known = WEFT_QUIET | WEFT_REMOTE_DATA | WEFT_INJECT | WEFT_TRANSMITTED;
    if ((flags & ~known) != 0) return errc::not_supported;
    if (m.count > pieces_max || (m.count != 0 && m.pieces == nullptr)) return errc::invalid_argument;
    const send_options options{.quiet = (flags & WEFT_QUIET) != 0,
                               .inject = (flags & WEFT_INJECT) != 0,
                               .has_data = (flags & WEFT_REMOTE_DATA) != 0,
                               .data = m.data};
    const guard locked(queue_->lock());
    if (shut()) [[unlikely]]
        return errc::closed;
    if (m.count == 1) {
        const contiguous_source one{static_cast<const std::byte*>(m.pieces[0].data), m.pieces[0].size};
        return start_send<Tagged>(one, m.peer, m.tag, m.context, options);
    }
    piece_list list;
    std::uint64_t size = 0;
    for (std::size_t i = 0; i < m.count; ++i) {
        list.pieces[i] = m.pieces[i];
        if (__builtin_add_overflow(size, m.pieces[i].size, &size)) return errc::message_too_long;
    }
    list.count = m.count;
    return start_send<Tagged>(gathered_source{&list, size}, m.peer, m.tag, m.context, options);
}

template <class Transport, spi::traits T>
template <bool Tagged, class Source>
status endpoint<Transport, T>::start_send(const Source& source, std::uint64_t to, std::uint64_t tag, void* context,
                                          const send_options& options) noexcept {
    if (source.size > Transport::message_max || (options.inject && source.size > eager_max_))
        return errc::message_too_long;
    channel* ch = nullptr;
    if (const status s = usable_channel(to, ch); !s) return s;

    const bool buffered = source.size <= eager_max_;
    if (buffered && !options.quiet && !queue_->has_room() && !queue_->make_room()) return errc::try_again;
    const auto kind_of = [&](wire::kind plain) noexcept { return options.has_data ? wire::with_data(plain) : plain; };

    if (source.size <= (options.has_data ? Transport::inline_data_max : Transport::inline_max)) {
        std::byte payload[wire::payload_max];
        source.copy_to(payload, 0, source.size);
        if (options.has_data)
            ch->main_tx.put_with_data(Tagged ? wire::kind::tagged_data : wire::kind::msg_data, tag, options.data,
                                      payload, source.size);
        else
            ch->main_tx.put_small(ch->main_tx.next(), Tagged ? wire::kind::tagged_small : wire::kind::msg_small, tag,
                                  payload, source.size);
    } else if (buffered) {
        const auto n = static_cast<std::uint32_t>(source.size);
        std::uint64_t position = 0;
        std::byte* room = ch->main_tx.reserve(n, position);
        if (room == nullptr) {
            if (!ch->main_tx.refresh()) return errc::try_again;
            room = ch->main_tx.reserve(n, position);
            if (room == nullptr) return errc::try_again;
        }
        source.copy_to(room, 0, n);
        ch->main_tx.put_body(kind_of(Tagged ? wire::kind::tagged_eager : wire::kind::msg_eager), tag,
                             wire::eager_body{position, options.data}, n);
        ch->main_tx.commit_data();
    } else {
        return start_rendezvous(*ch, source,
                                kind_of(Tagged ? wire::kind::tagged_rendezvous : wire::kind::msg_rendezvous), tag,
                                context, options);
    }
    if (!options.quiet) report(context, op::send, errc::ok, source.size, to, tag, 0, 0);
    return {};
}

template <class Transport, spi::traits T>
template <class Source>
status endpoint<Transport, T>::start_rendezvous(channel& ch, const Source& source, wire::kind k, std::uint64_t tag,
                                                void* context, const send_options& options) noexcept {
    outgoing* const o = outgoing_pool_.acquire();
    if (o == nullptr) return errc::try_again;
    wire::rendezvous_body body{.size = source.size, .sender = 0, .address = 0, .data = options.data};
    if constexpr (std::is_same_v<Source, gathered_source>) {
        o->list = piece_pool_.acquire(*source.list);
        if (o->list == nullptr) {
            outgoing_pool_.release(o);
            return errc::try_again;
        }
    } else {
        o->source = source;
        body.address = reinterpret_cast<std::uint64_t>(source.data);
    }
    o->id = outgoing_.insert(o);
    if (o->id == base::id_table<outgoing>::none) {
        piece_pool_.release(o->list);
        outgoing_pool_.release(o);
        return errc::try_again;
    }
    o->channel = &ch;
    o->context = context;
    o->size = source.size;
    o->tag = tag;
    o->quiet = options.quiet;
    body.sender = o->id;
    ch.main_tx.put_body(k, tag, body, 0);
    count_bulk_work(ch, 1);
    return {};
}

// Finds the channel to a peer with a free slot, or answers why there is none.
template <class Transport, spi::traits T>
[[gnu::noinline]] status endpoint<Transport, T>::usable_channel(std::uint64_t to, channel*& found) noexcept {
    if (to >= channel_count_) {
        const std::uint64_t known = transport_->known_peers();
        if (to >= known) return errc::invalid_argument;
        if (!grow_channels(known)) return errc::no_memory;
    }
    channel* const ch = channels_[to];
    switch (ch->state) {
        case channel_state::open:
            found = ch;
            return ch->main_tx.has_slot() || ch->main_tx.refresh() ? status{} : status{errc::try_again};
        case channel_state::absent: {
            const status s = transport_->contact(to);
            queue_->hurry();  // the answer is waited for: look at the sockets with the next poll
            return s;
        }
        case channel_state::closing:
        case channel_state::gone: break;
    }
    return errc::peer_gone;
}

template <class Transport, spi::traits T>
bool endpoint<Transport, T>::grow_channels(std::uint64_t count) noexcept {
    if (count <= channel_count_) return true;
    try {
        channel_table_.resize(static_cast<std::size_t>(count), &absent_);
    } catch (const std::bad_alloc&) {
        return false;
    }
    channels_ = channel_table_.data();
    channel_count_ = channel_table_.size();
    return true;
}

}  // namespace weft::protocol
