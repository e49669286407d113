// Protocol engine, part: large messages.
//
// The sender announces; the receiver, once a receive matches, either pulls the bytes out of the sender's memory or
// grants, and is sent segments through the bulk area. Announcements travel in order with all messages; grants,
// segments and the receiver's "finished" have a lane of their own, so that they pass messages nobody has a receive
// for.
#pragma once
#include <algorithm>
#include "base/clock.hpp"
#include "protocol/endpoint.hpp"

namespace weft::protocol {

// ---- receiver -------------------------------------------------------------------------------------------------

// Requires room in the queue. On success the pieces in `to` belong to the transfer; false: nothing has changed.
template <class Transport, spi::traits T>
bool endpoint<Transport, T>::begin_incoming(channel& ch, const destination& to, void* context, bool quiet,
                                            std::uint64_t tag, const wire::rendezvous_body& body,
                                            std::uint16_t flags) noexcept {
    incoming* const in = incoming_pool_.acquire();
    if (in == nullptr) return false;
    in->id = incoming_.insert(in);
    if (in->id == base::id_table<incoming>::none) {
        incoming_pool_.release(in);
        return false;
    }
    in->channel = &ch;
    in->context = context;
    in->to = to;
    in->sent_size = body.size;
    in->wanted = std::min(body.size, to.size);
    in->tag = tag;
    in->data = flags != 0 ? body.data : 0;
    in->sender = body.sender;
    in->address = body.address;
    in->flags = flags;
    in->quiet = quiet;
    count_bulk_work(ch, 1);
    if (in->wanted == 0) {
        post_control(ch, wire::kind::finished, in->sender, wire::grant_body{});
        finish_incoming(*in, errc::ok);
        return true;
    }
    in->started_ns = base::now_ns();
    in->way = ch.choose_copy(in->wanted, body.address != 0);
    if (in->way == copy_way::pull)
        pulls_.push_back(*in);
    else
        ask_for_segments(*in);
    return true;
}

template <class Transport, spi::traits T>
void endpoint<Transport, T>::ask_for_segments(incoming& in) noexcept {
    const std::uint64_t how =
        (in.way == copy_way::streaming ? wire::grant_streaming : 0u) | (incoming_.size() > 1 ? wire::grant_long : 0u);
    post_control(*static_cast<channel*>(in.channel), wire::kind::grant, in.sender,
                 wire::grant_body{in.done, in.wanted, in.id, how});
}

// Requires room in the queue.
template <class Transport, spi::traits T>
void endpoint<Transport, T>::finish_incoming(incoming& in, errc outcome) noexcept {
    channel& ch = *static_cast<channel*>(in.channel);
    if (outcome == errc::ok && in.wanted > 0) ch.record_copy(in.way, in.wanted, base::now_ns() - in.started_ns);
    if (outcome == errc::ok && in.wanted < in.sent_size) outcome = errc::truncated;
    if (!in.quiet || outcome != errc::ok)
        report(in.context, op::recv, outcome, in.done, ch.peer, in.tag, in.data, in.flags);
    if (in.linked()) in.unlink();
    incoming_.erase(in.id);
    piece_pool_.release(in.to.list);
    incoming_pool_.release(&in);
    count_bulk_work(ch, -1);
}

template <class Transport, spi::traits T>
void endpoint<Transport, T>::pull_some(incoming& in) noexcept {
    channel& ch = *static_cast<channel*>(in.channel);
    const std::uint64_t n = std::min<std::uint64_t>(in.wanted - in.done, Transport::pull_step);
    bool good = true;
    std::uint64_t offset = in.done;
    if (in.to.list == nullptr) {
        good = ch.pull(in.to.data + offset, in.address + offset, n);
    } else {
        in.to.list->for_range(offset, n, [&](std::byte* to, std::size_t part) {
            good = good && ch.pull(to, in.address + offset, part);
            offset += part;
        });
    }
    if (!good) {  // forbidden or gone in mid-run: the sender is asked for the rest, or its death is noticed
        in.unlink();
        in.way = copy_way::pipeline;
        ask_for_segments(in);
        return;
    }
    in.done += n;
    if (in.done < in.wanted) return;
    // A sender that closed meanwhile may have had its buffer reused while we read it.
    if (ch.producer_closed()) {
        in.done = 0;
        finish_incoming(in, errc::peer_gone);
        return;
    }
    post_control(ch, wire::kind::finished, in.sender, wire::grant_body{});
    finish_incoming(in, errc::ok);
}

template <class Transport, spi::traits T>
bool endpoint<Transport, T>::take_segment(channel& ch, std::uint32_t n) noexcept {
    const auto& packet = ch.bulk_rx.at_front();
    const auto body = wire::read_body<wire::segment_body>(packet.payload);
    const std::byte* const from = ch.bulk_rx.data(body.position, n);
    if (from == nullptr) {
        fault(ch, "named bytes outside the shared bulk area");
        return false;
    }
    incoming* const in = incoming_.find(packet.key);
    if (in != nullptr && in->channel == &ch) {
        if (in->way == copy_way::pull || body.offset != in->done || n > in->wanted - in->done) {
            fault(ch, "sent a segment that was not asked for");
            return false;
        }
        // The copy takes longer than a line's way here: what is looked at next comes meanwhile.
        ch.bulk_rx.ask_for_one(1);
        ch.main_rx.ask_for_one(0);
        in->to.copy_from(from, body.offset, n);
        in->done += n;
    }
    ch.bulk_rx.pop_data(body.position, n);
    if (in != nullptr && in->channel == &ch && in->done == in->wanted) finish_incoming(*in, errc::ok);
    return true;
}

// ---- sender ---------------------------------------------------------------------------------------------------

template <class Transport, spi::traits T>
void endpoint<Transport, T>::take_grant(channel& ch) noexcept {
    const auto& packet = ch.bulk_rx.at_front();
    const auto body = wire::read_body<wire::grant_body>(packet.payload);
    outgoing* const o = outgoing_.find(packet.key);
    ch.bulk_rx.pop();
    if (o == nullptr || o->channel != &ch || o->granted || body.offset >= body.size || body.size > o->size) return;
    o->granted = true;
    o->streaming = (body.how & wire::grant_streaming) != 0;
    o->long_segments = (body.how & wire::grant_long) != 0;
    o->receiver = body.receiver;
    o->next = body.offset;
    o->end = body.size;
    ch.granted.push_back(*o);
}

// Requires room in the queue.
template <class Transport, spi::traits T>
void endpoint<Transport, T>::finish_outgoing(outgoing& o, errc outcome) noexcept {
    channel& ch = *static_cast<channel*>(o.channel);
    if (!o.quiet || outcome != errc::ok)
        report(o.quiet ? nullptr : o.context, op::send, outcome, outcome == errc::ok ? o.size : 0, ch.peer, o.tag, 0,
               0);
    if (o.linked()) o.unlink();
    outgoing_.erase(o.id);
    piece_pool_.release(o.list);
    outgoing_pool_.release(&o);
    count_bulk_work(ch, -1);
}

template <class Transport, spi::traits T>
void endpoint<Transport, T>::push_segments(channel& ch) noexcept {
    while (!ch.granted.empty() && queue_->has_room()) {
        outgoing& o = ch.granted.front();
        const std::uint32_t n = Transport::segment_size(o.long_segments ? o.end : o.next, o.end - o.next);
        if (!ch.bulk_tx.has_slot() && !ch.bulk_tx.refresh()) return;
        std::uint64_t position = 0;
        std::byte* room = ch.bulk_tx.reserve(n, position);
        if (room == nullptr) {
            (void)ch.bulk_tx.refresh();
            room = ch.bulk_tx.reserve(n, position);
            if (room == nullptr) return;
        }
        ch.bulk_rx.ask_for_one(0);  // as in take_segment()
        o.copy_to(room, o.next, n);
        ch.bulk_tx.put_body(wire::kind::segment, o.receiver, wire::segment_body{position, o.next}, n);
        ch.bulk_tx.commit_data();
        o.next += n;
        if (o.next == o.end) finish_outgoing(o, errc::ok);
    }
}

// ---- both -----------------------------------------------------------------------------------------------------

template <class Transport, spi::traits T>
template <class Body>
void endpoint<Transport, T>::post_control(channel& ch, wire::kind k, std::uint64_t key, const Body& body) noexcept {
    if (ch.pending.empty() && (ch.bulk_tx.has_slot() || ch.bulk_tx.refresh())) {
        ch.bulk_tx.put_body(k, key, body, 0);
        return;
    }
    if (ch.state != channel_state::open) return;  // nobody will read it
    pending_control p{k, key, {}};
    wire::write_body(p.body.data(), body);
    try {
        ch.pending.push_back(p);
    } catch (const std::bad_alloc&) {
        fault(ch, "cannot be answered: out of memory");
        return;
    }
    count_bulk_work(ch, 1);
}

template <class Transport, spi::traits T>
void endpoint<Transport, T>::flush_controls(channel& ch) noexcept {
    std::size_t sent = 0;
    while (sent < ch.pending.size() && (ch.bulk_tx.has_slot() || ch.bulk_tx.refresh())) {
        const pending_control& p = ch.pending[sent++];
        ch.bulk_tx.put_body(p.what, p.key, p.body, 0);
    }
    ch.pending.erase(ch.pending.begin(), ch.pending.begin() + static_cast<std::ptrdiff_t>(sent));
    count_bulk_work(ch, -static_cast<std::int32_t>(sent));
}

template <class Transport, spi::traits T>
void endpoint<Transport, T>::take_controls(channel& ch) noexcept {
    for (std::uint32_t left = Transport::burst; left != 0 && queue_->has_room(); --left) {
        if (!ch.bulk_rx.ready()) return;
        const std::uint64_t word = ch.bulk_rx.front();
        switch (wire::header::kind_of(word)) {
            case wire::kind::segment:
                if (!take_segment(ch, wire::header::size_of(word))) return;
                // Between two segments the sender side is served, so that both directions flow.
                if (!ch.granted.empty()) push_segments(ch);
                break;
            case wire::kind::grant:
                take_grant(ch);
                push_segments(ch);
                break;
            case wire::kind::finished: {
                outgoing* const o = outgoing_.find(ch.bulk_rx.at_front().key);
                ch.bulk_rx.pop();
                if (o != nullptr && o->channel == &ch && !o->granted) finish_outgoing(*o, errc::ok);
                break;
            }
            default: fault(ch, "sent an unknown control packet"); return;
        }
    }
}

template <class Transport, spi::traits T>
[[gnu::noinline]] void endpoint<Transport, T>::progress_bulk() noexcept {
    for (std::uint32_t i = 0; i < active_count_; ++i) {
        channel& ch = *active_[i];
        if (ch.bulk_work == 0) continue;
        if (!ch.pending.empty()) flush_controls(ch);
        take_controls(ch);
        if (!ch.granted.empty()) push_segments(ch);
    }
    for (auto it = pulls_.begin(); it != pulls_.end() && queue_->has_room();) {
        incoming& in = *it;
        ++it;  // the transfer may leave the list
        pull_some(in);
    }
}

}  // namespace weft::protocol
