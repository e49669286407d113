// Protocol engine, part: opening, polling, peers that come and go, closing.
#pragma once
#include <algorithm>
#include <cstdio>
#include <cstring>
#include "base/clock.hpp"
#include "protocol/endpoint.hpp"

namespace weft::protocol {

template <class Transport, spi::traits T>
endpoint<Transport, T>::endpoint(std::unique_ptr<Transport> transport, queue_type& queue, const endpoint_limits& limits,
                                 bool outside_storage)
    : weft_endpoint{&spi::endpoint_table<endpoint>::value},
      progressable{[](progressable* p) noexcept { static_cast<endpoint*>(p)->progress(); }},
      queue_(&queue),
      eager_max_(transport->eager_max()),
      posted_tagged_(limits.posted_receives),
      posted_messages_(limits.posted_receives),
      transport_(std::move(transport)),
      limits_(limits),
      // Chunks of a few pages: rare growth, little waste.
      unexpected_pool_(limits.unexpected_bytes / sizeof(unexpected_message), 64),
      piece_pool_(2 * limits.posted_receives + 2 * limits.rendezvous, 16),
      outgoing_pool_(limits.rendezvous, 32),
      incoming_pool_(limits.rendezvous, 32),
      outgoing_(static_cast<std::uint32_t>(limits.rendezvous)),
      incoming_(static_cast<std::uint32_t>(limits.rendezvous)),
      outside_storage_(outside_storage) {
    queue_->retain();
    gone_.state = channel_state::gone;
    const guard locked(queue_->lock());
    bound_ = queue_->bind(this, &poll_table, limits.socket_period_ns);
}

// ---- polling --------------------------------------------------------------------------------------------------

// The queue's poll, if one thread uses it. Small messages for plain receives, sends that have completed and an idle
// poll are dealt with here without a call, so that hardly a register has to be saved; all else continues in
// poll_rest().
template <class Transport, spi::traits T>
std::size_t endpoint<Transport, T>::poll(weft_queue* q, void* room_begin, std::size_t room) noexcept {
    auto& queue = static_cast<queue_type&>(*q);
    auto* const entries = static_cast<entry_type*>(room_begin);
    if (queue.nothing_waits()) {
        for (auto at = queue.watched(), last = queue.watched_end(); at != last; ++at)
            if (static_cast<channel*>(at->channel)->main_rx.ready())
                return poll_ready(queue, entries, entries, entries + room, at);
        if (!queue.count_poll()) [[unlikely]]
            return queue.poll_rest(entries, entries, entries + room);
        return 0;
    }
    if (!queue.all_fits(room)) [[unlikely]]
        return queue.poll_rest(entries, entries, entries + room);
    entry_type* const out = queue.take_all(entries);
    for (auto at = queue.watched(), last = queue.watched_end(); at != last; ++at)
        if (static_cast<channel*>(at->channel)->main_rx.ready())
            return poll_ready(queue, entries, out, entries + room, at);
    if (!queue.count_poll()) [[unlikely]]
        return queue.poll_rest(entries, out, entries + room);
    return static_cast<std::size_t>(out - entries);
}

// From the channel at `at` on, which is ready. A step of its own, so that neither has more to hold than there are
// registers.
template <class Transport, spi::traits T>
[[gnu::noinline]] std::size_t endpoint<Transport, T>::poll_ready(queue_type& queue, entry_type* entries,
                                                                 entry_type* out, entry_type* end,
                                                                 const typename queue_type::polled* at) noexcept {
    do {
        channel& ch = *static_cast<channel*>(at->channel);
        if (!ch.main_rx.ready()) continue;
        if (ch.backlog) [[unlikely]]
            return poll_backlog(queue, entries, out, end, at);
        do {
            if (out == end) {
                ch.backlog = true;
                return queue.poll_full(entries, out);
            }
            if (!static_cast<endpoint*>(at->endpoint)->take_small(ch, out)) return queue.poll_rest(entries, out, end);
            ++out;
        } while (ch.main_rx.ready());
    } while (++at != queue.watched_end());
    if (!queue.count_poll()) [[unlikely]]
        return queue.poll_rest(entries, out, end);
    return static_cast<std::size_t>(out - entries);
}

// As poll_ready(), from a channel that filled the caller's room last time and so holds more than that. Its lines are
// asked for ahead: what is done with one message is too long for the processor to reach the next lines by itself. Where
// there is no backlog, that would only take lines away from a sender who is about to write them.
template <class Transport, spi::traits T>
[[gnu::noinline]] std::size_t endpoint<Transport, T>::poll_backlog(queue_type& queue, entry_type* entries,
                                                                   entry_type* out, entry_type* end,
                                                                   const typename queue_type::polled* at) noexcept {
    channel& ch = *static_cast<channel*>(at->channel);
    ch.main_rx.ask_for(Transport::lines_ahead);
    do {
        if (out == end) return queue.poll_full(entries, out);
        ch.main_rx.ask_for_one(Transport::lines_ahead);
        if (!static_cast<endpoint*>(at->endpoint)->take_small(ch, out)) return queue.poll_rest(entries, out, end);
        ++out;
    } while (ch.main_rx.ready());
    ch.backlog = false;
    if (++at != queue.watched_end()) return poll_ready(queue, entries, out, end, at);
    if (!queue.count_poll()) [[unlikely]]
        return queue.poll_rest(entries, out, end);
    return static_cast<std::size_t>(out - entries);
}

// All that an endpoint may have to do in a poll.
template <class Transport, spi::traits T>
void endpoint<Transport, T>::progress() noexcept {
    entry_type* const end = queue_->end();
    if (queue_->takes_messages())
        for (std::uint32_t i = 0; i < active_count_; ++i) {
            channel& ch = *active_[i];
            if (ch.main_rx.ready()) queue_->direct_to(take_messages(ch, queue_->next(), end), end);
        }
    if (bulk_work_ != 0) progress_bulk();
    if (queue_->work_is_due()) work();
}

// What need not happen with every poll: sockets, contacts, deaths.
template <class Transport, spi::traits T>
[[gnu::cold, gnu::noinline]] void endpoint<Transport, T>::work() noexcept {
    struct {
        endpoint& self;
        void attached(std::unique_ptr<channel> ch) noexcept { self.attach(std::move(ch)); }
        void closed(std::uint64_t peer) noexcept { self.peer_closed(peer); }
    } events{*this};
    transport_->work(events);

    bool emptying = false;
    for (std::uint32_t i = closing_count_ != 0 ? active_count_ : 0; i-- > 0;) {
        channel& ch = *active_[i];
        if (ch.state != channel_state::closing) continue;
        // Its messages beyond the bound on unexpected data stay in its ring for receives to come. Nothing that waits
        // for something else of this peer waits for that.
        const bool stuck =
            ch.main_rx.ready() && queue_->has_room() && !take_other(ch, ch.main_rx.front()) && ch.main_rx.ready();
        if (!ch.main_rx.ready() && !ch.bulk_rx.ready())
            finalize(ch, errc::peer_gone);
        else if (stuck)
            end_operations(ch, errc::peer_gone);
        else
            emptying = true;
    }
    if (transport_->waiting() || emptying) queue_->hurry();
}

// ---- peers ----------------------------------------------------------------------------------------------------

template <class Transport, spi::traits T>
void endpoint<Transport, T>::attach(std::unique_ptr<channel> ch) noexcept {
    const std::uint64_t peer = ch->peer;
    if (!grow_channels(std::max(peer + 1, transport_->known_peers()))) return;  // the peer sees us as it was: silent
    try {
        owned_.reserve(owned_.size() + 1);
        active_table_.push_back(ch.get());
    } catch (const std::bad_alloc&) {
        return;
    }
    if (!queue_->watch(ch.get(), this)) {
        active_table_.pop_back();
        return;
    }
    ch->state = channel_state::open;
    channels_[peer] = ch.get();
    owned_.push_back(std::move(ch));
    active_ = active_table_.data();
    active_count_ = static_cast<std::uint32_t>(active_table_.size());
}

// Nothing more comes from this peer, but what it sent before is still taken.
template <class Transport, spi::traits T>
void endpoint<Transport, T>::peer_closed(std::uint64_t peer) noexcept {
    if (peer >= channel_count_) return;
    channel& ch = *channels_[peer];
    if (ch.state != channel_state::open) return;
    ch.state = channel_state::closing;
    ch.main_tx.detach();
    ch.bulk_tx.detach();
    ++closing_count_;
    count_bulk_work(ch, 1);  // the control lane is emptied, whether or not a large message waits for it
}

// The peer broke the protocol: nothing it says is believed any more, others are not affected.
template <class Transport, spi::traits T>
[[gnu::cold, gnu::noinline]] void endpoint<Transport, T>::fault(channel& ch, const char* what) noexcept {
    transport_->log_fault(ch.peer, what);
    if (ch.state == channel_state::open) peer_closed(ch.peer);
    ch.main_rx.stop();
    ch.bulk_rx.stop();
    queue_->hurry();
}

// Ends everything that involves the peer, each operation exactly once.
template <class Transport, spi::traits T>
[[gnu::cold, gnu::noinline]] void endpoint<Transport, T>::end_operations(channel& ch, errc why) noexcept {
    const std::uint64_t peer = ch.peer;
    count_bulk_work(ch, -static_cast<std::int32_t>(ch.pending.size()));
    ch.pending.clear();

    outgoing_.for_each([&](std::uint64_t, outgoing& o) {
        if (o.channel != &ch) return;
        queue_->emit_regardless({o.quiet ? nullptr : o.context, why, op::send, 0, 0, peer, 0, o.tag});
        if (o.linked()) o.unlink();
        outgoing_.erase(o.id);
        piece_pool_.release(o.list);
        outgoing_pool_.release(&o);
        count_bulk_work(ch, -1);
    });
    incoming_.for_each([&](std::uint64_t, incoming& in) {
        if (in.channel != &ch) return;
        queue_->emit_regardless({in.context, why, op::recv, in.flags, in.done, peer, in.data, in.tag});
        if (in.linked()) in.unlink();
        incoming_.erase(in.id);
        piece_pool_.release(in.to.list);
        incoming_pool_.release(&in);
        count_bulk_work(ch, -1);
    });
    const auto forget = [&](auto& posted, auto& unexpected) {
        unexpected.for_each([&](unexpected_message& u) {
            if (u.channel != &ch) return;
            unexpected.remove(u);
            free_unexpected(u);
        });
        posted.remove_if([&](const match::posted_receive& r) { return !r.takes_any_source() && r.source == peer; },
                         [&](match::posted_receive& r) {
                             queue_->emit_regardless({r.token, why, op::recv, 0, 0, peer, 0, r.tag});
                             if ((r.user & receive_scattered) != 0) piece_pool_.release(destination_of(r).list);
                             posted.release(&r);
                         });
    };
    forget(posted_tagged_, unexpected_tagged_);
    forget(posted_messages_, unexpected_messages_);
}

// Ends everything that involves the peer and forgets its channel.
template <class Transport, spi::traits T>
[[gnu::cold, gnu::noinline]] void endpoint<Transport, T>::finalize(channel& ch, errc why) noexcept {
    end_operations(ch, why);
    if (ch.state == channel_state::closing) {
        --closing_count_;
        count_bulk_work(ch, -1);
    }
    channels_[ch.peer] = &gone_;
    queue_->unwatch(&ch, this);
    std::erase(active_table_, &ch);
    active_ = active_table_.data();
    active_count_ = static_cast<std::uint32_t>(active_table_.size());
    std::erase_if(owned_, [&](const auto& o) { return o.get() == &ch; });
}

// ---- cancel and close -----------------------------------------------------------------------------------------

template <class Transport, spi::traits T>
status endpoint<Transport, T>::cancel(void* context) noexcept {
    const guard locked(queue_->lock());
    if (shut()) return errc::closed;
    bool found = false;
    const auto end = [&](match::posted_list& posted) {
        posted.remove_if(
            [&](const match::posted_receive& r) { return r.token == context; },
            [&](match::posted_receive& r) {
                queue_->emit_regardless({r.token, errc::canceled, op::recv, 0, 0, match::any_source, 0, r.tag});
                if ((r.user & receive_scattered) != 0) piece_pool_.release(destination_of(r).list);
                posted.release(&r);
                found = true;
            });
    };
    end(posted_tagged_);
    end(posted_messages_);
    return found ? errc::ok : errc::no_message;
}

template <class Transport, spi::traits T>
void endpoint<Transport, T>::cancel_everything() noexcept {
    while (active_count_ != 0) finalize(*active_[active_count_ - 1], errc::canceled);
    const auto end = [&](auto& posted, auto& unexpected) {
        posted.remove_if(
            [](const match::posted_receive&) { return true; },
            [&](match::posted_receive& r) {
                queue_->emit_regardless({r.token, errc::canceled, op::recv, 0, 0, match::any_source, 0, r.tag});
                if ((r.user & receive_scattered) != 0) piece_pool_.release(destination_of(r).list);
                posted.release(&r);
            });
        while (unexpected_message* const u = unexpected.oldest()) {
            unexpected.remove(*u);
            free_unexpected(*u);
        }
    };
    end(posted_tagged_, unexpected_tagged_);
    end(posted_messages_, unexpected_messages_);
}

template <class Transport, spi::traits T>
status endpoint<Transport, T>::close() noexcept {
    const guard locked(queue_->lock());
    if (closed_) return {};
    closed_ = true;
    for (std::uint32_t i = 0; i < active_count_; ++i) active_[i]->mark_closed();
    transport_->shut();
    cancel_everything();
    channels_ = nullptr;
    channel_count_ = 0;
    queue_->unbind(this);
    if constexpr (!T.locked) ops = &closed_table;  // so that no call has to test for it
    return {};
}

template <class Transport, spi::traits T>
void endpoint<Transport, T>::release() noexcept {
    (void)close();
    queue_type* const queue = queue_;
    const std::shared_ptr<void> keeps = queue->keeps;  // the provider's code outlives the object
    if (outside_storage_)
        this->~endpoint();
    else
        delete this;
    queue->release();
}

namespace detail {
// What the calls of a closed endpoint answer.
struct closed_endpoint : weft_endpoint {
    static status closed() noexcept { return errc::closed; }
    template <class... A>
    status send(const A&...) noexcept {
        return closed();
    }
    template <class... A>
    status send_quiet(const A&...) noexcept {
        return closed();
    }
    template <class... A>
    status inject(const A&...) noexcept {
        return closed();
    }
    template <class... A>
    status sendv(const A&...) noexcept {
        return closed();
    }
    template <class... A>
    status sendmsg(const A&...) noexcept {
        return closed();
    }
    template <class... A>
    status recv(const A&...) noexcept {
        return closed();
    }
    template <class... A>
    status recvv(const A&...) noexcept {
        return closed();
    }
    template <class... A>
    status recvmsg(const A&...) noexcept {
        return closed();
    }
    template <class... A>
    status tsend(const A&...) noexcept {
        return closed();
    }
    template <class... A>
    status tsend_quiet(const A&...) noexcept {
        return closed();
    }
    template <class... A>
    status tinject(const A&...) noexcept {
        return closed();
    }
    template <class... A>
    status tsendv(const A&...) noexcept {
        return closed();
    }
    template <class... A>
    status tsendmsg(const A&...) noexcept {
        return closed();
    }
    template <class... A>
    status trecv(const A&...) noexcept {
        return closed();
    }
    template <class... A>
    status trecvv(const A&...) noexcept {
        return closed();
    }
    template <class... A>
    status trecvmsg(const A&...) noexcept {
        return closed();
    }
    template <class... A>
    status cancel(const A&...) noexcept {
        return closed();
    }
    template <class... A>
    status address(const A&...) noexcept {
        return closed();
    }
    template <class... A>
    status path(const A&...) noexcept {
        return closed();
    }
    status close() noexcept { return {}; }
    void release() noexcept {}
};
}  // namespace detail

template <class Transport, spi::traits T>
const weft_endpoint_ops endpoint<Transport, T>::closed_table = [] {
    weft_endpoint_ops t = spi::endpoint_table<detail::closed_endpoint>::value;
    t.address = spi::endpoint_table<endpoint>::value.address;
    t.close = spi::endpoint_table<endpoint>::value.close;
    t.release = spi::endpoint_table<endpoint>::value.release;
    return t;
}();

template <class Transport, spi::traits T>
status endpoint<Transport, T>::path(std::uint64_t to, weft_path* p, weft_failure* f) noexcept {
    const guard locked(queue_->lock());
    if (shut()) {
        f->code = static_cast<std::int32_t>(errc::closed);
        std::snprintf(f->text, sizeof f->text, "the endpoint has been closed");
        return errc::closed;
    }
    std::memset(p, 0, sizeof *p);
    p->size = sizeof *p;
    p->inline_max = Transport::inline_max;
    p->eager_max = eager_max_;
    if (to == WEFT_ANY_PEER) return transport_->describe_self(*p);
    if (to >= channel_count_ && to < transport_->known_peers()) (void)grow_channels(transport_->known_peers());
    if (to >= channel_count_) {
        std::snprintf(f->text, sizeof f->text,
                      "peer %llu was never resolved here: use domain::resolve or an entry's source",
                      static_cast<unsigned long long>(to));
        f->code = static_cast<std::int32_t>(errc::invalid_argument);
        return errc::invalid_argument;
    }
    return transport_->describe_path(to, *channels_[to], *p, *f);
}

}  // namespace weft::protocol
