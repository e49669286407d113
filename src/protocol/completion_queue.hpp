// The completion queue of endpoints driven by the protocol engine.
//
// Polling writes new entries straight into the caller's array; the place of the next one is handed from function to
// function in a register. Entries made outside a poll (a buffered send is complete at once) wait in a linear backlog,
// which the next poll copies out first, so order is kept. The engine makes sure of room before it starts anything that
// ends in an entry; what must be reported without asking (cancel, death of a peer) may go to `overflow_`.
#pragma once
#include <weft/plugin.h>
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>
#include <weft/entry.hpp>
#include <weft/spi/traits.hpp>
#include "base/assert.hpp"
#include "base/clock.hpp"
#include "base/spinlock.hpp"

namespace weft::protocol {

template <spi::entry_format F>
struct format_entry;
template <>
struct format_entry<spi::entry_format::tokens> {
    using type = entry::tokens;
};
template <>
struct format_entry<spi::entry_format::message> {
    using type = entry::message;
};
template <>
struct format_entry<spi::entry_format::tagged> {
    using type = entry::tagged;
};

// Everything an entry can say; a format keeps what it has room for.
struct completion {
    void* context = nullptr;
    status outcome;
    op what = op::send;
    std::uint16_t flags = 0;
    std::uint64_t size = 0;
    std::uint64_t source = 0;
    std::uint64_t data = 0;
    std::uint64_t tag = 0;
};

// Reference-counted by the handle and by each endpoint bound to it; type-erased for owners. Without virtual functions,
// so that a weft_queue* is a queue_base* without arithmetic.
class queue_base : public weft_queue {
  public:
    queue_base(const weft_queue_ops* table, spi::traits t, void (*destroy)(queue_base*) noexcept) noexcept
        : weft_queue{table}, traits_(t), destroy_(destroy) {}
    queue_base(const queue_base&) = delete;
    queue_base& operator=(const queue_base&) = delete;

    spi::traits traits() const noexcept { return traits_; }
    void retain() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
    void release() noexcept {
        // Release orders our uses before the deletion; acquire makes the deleting thread see the others' uses.
        if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy_(this);
    }

    // What has to stay loaded and alive as long as the queue (the provider's domain).
    std::shared_ptr<void> keeps;

  protected:
    ~queue_base() = default;

  private:
    spi::traits traits_;
    void (*destroy_)(queue_base*) noexcept;
    std::atomic<std::uint32_t> references_{1};
};

// A bound endpoint as the queue sees it.
struct progressable {
    void (*progress)(progressable*) noexcept;
};

template <spi::traits T>
class completion_queue final : public queue_base {
  public:
    using entry_type = typename format_entry<T.format>::type;
    using lock_type = std::conditional_t<T.locked, base::spinlock, base::no_lock>;

    // Null when there is no memory for the backlog.
    static completion_queue* create(std::uint64_t depth) noexcept {
        auto* q = new (std::nothrow) completion_queue();
        if (q == nullptr) return nullptr;
        q->backlog_.reset(new (std::nothrow) entry_type[depth]);
        if (!q->backlog_) {
            delete q;
            return nullptr;
        }
        q->head_ = q->out_ = q->backlog_.get();
        q->end_ = q->backlog_end_ = q->head_ + depth;
        return q;
    }

    lock_type& lock() noexcept { return lock_; }

    // ---- for the engine, under the lock -------------------------------------------------------------------

    bool has_room() const noexcept { return out_ != end_; }

    // As has_room(), but first moves unread entries to the front of the backlog. Cold; outside a poll only.
    [[gnu::cold, gnu::noinline]] bool make_room() noexcept {
        entry_type* const begin = backlog_.get();
        if (head_ != begin) {
            std::memmove(static_cast<void*>(begin), head_, static_cast<std::size_t>(out_ - head_) * sizeof(entry_type));
            out_ = begin + (out_ - head_);
            head_ = begin;
        }
        return has_room();
    }

    // Requires has_room().
    void emit(const completion& c) noexcept {
        WEFT_ASSERT(has_room());
        entry_type* const at = out_;
        out_ = at + 1;
        write(*at, c);
    }
    // As has_room() and emit(), for code that must not read the queue twice: `at` comes from next().
    entry_type* next() const noexcept { return out_; }
    entry_type* end() const noexcept { return end_; }
    bool is_room(const entry_type* at) const noexcept { return at != end_; }
    void emit_at(entry_type* at, const completion& c) noexcept {
        out_ = at + 1;
        write(*at, c);
    }
    // Always succeeds unless memory is exhausted, in which case the entry is lost and counted.
    [[gnu::cold, gnu::noinline]] void emit_regardless(const completion& c) noexcept {
        if (!overflowed_ && has_room()) return emit(c);
        try {
            write(overflow_.emplace_back(), c);
            overflowed_ = true;
        } catch (const std::bad_alloc&) {
            ++lost_;
        }
    }

    // During a poll: directs emit() to [out, end) for a stretch of code that is not handed the place in registers,
    // and takes it back from there. Between the two the backlog is not reachable; it is empty, or `out` is its end.
    void direct_to(entry_type* out, entry_type* end) noexcept {
        out_ = out;
        end_ = end;
    }
    entry_type* direct_back() noexcept {
        end_ = backlog_end_;
        return std::exchange(out_, head_);
    }

    static void write(entry_type& e, const completion& c) noexcept {
        e.context = token{c.context};
        // Outcome, operation and flags in one store: where they are constant, that is one instruction.
        const std::uint64_t second = std::uint64_t{static_cast<std::uint32_t>(c.outcome.code())} |
                                     std::uint64_t{static_cast<std::uint8_t>(c.what)} << 32 |
                                     std::uint64_t{c.flags} << 48;
        static_assert(offsetof(entry_type, outcome) == 8 && offsetof(entry_type, what) == 12 &&
                      offsetof(entry_type, flags) == 14);
        std::memcpy(reinterpret_cast<std::byte*>(&e) + 8, &second, sizeof second);
        if constexpr (T.format != spi::entry_format::tokens) {
            e.size = c.size;
            e.source = peer{c.source};
            e.data = remote_data{c.data};
        }
        if constexpr (T.format == spi::entry_format::tagged) e.tag = weft::tag{c.tag};
    }

    // ---- endpoints ----------------------------------------------------------------------------------------

    // False when there is no memory. `poll_table`: the queue's table from now on, if one thread uses it: a poll that
    // reaches the channels of all its endpoints (which are of one type) without an indirect call.
    bool bind(progressable* p, const weft_queue_ops* poll_table, std::uint64_t work_period_ns) noexcept {
        try {
            bound_.push_back(p);
        } catch (const std::bad_alloc&) {
            return false;
        }
        work_period_ns_ = work_period_ns;
        countdown_ = 1;
        if constexpr (!T.locked) ops = poll_table;  // one that another thread may be reading is not exchanged
        return true;
    }
    void unbind(progressable* p) noexcept { bound_.erase(std::remove(bound_.begin(), bound_.end(), p), bound_.end()); }

    // The channels that a poll looks at, with the endpoint each belongs to.
    struct polled {
        void* channel;
        void* endpoint;
    };
    bool watch(void* channel, void* endpoint) noexcept {
        try {
            watched_.push_back({channel, endpoint});
        } catch (const std::bad_alloc&) {
            return false;
        }
        polled_ = watched_.data();
        polled_end_ = polled_ + watched_.size();
        return true;
    }
    void unwatch(void* channel, void* endpoint) noexcept {
        std::erase_if(watched_, [&](const polled& w) { return w.channel == channel && w.endpoint == endpoint; });
        polled_ = watched_.data();
        polled_end_ = polled_ + watched_.size();
    }
    const polled* watched() const noexcept { return polled_; }
    const polled* watched_end() const noexcept { return polled_end_; }

    // ---- what a poll does besides small messages ---------------------------------------------------------------

    // Rendezvous of all endpoints that have something to do.
    void add_bulk_work(std::int32_t n) noexcept { bulk_work_ += static_cast<std::uint32_t>(n); }
    // The endpoint waits for something that only progressable::progress finds: look with the next poll.
    void hurry() noexcept {
        countdown_ = 1;
        last_work_ns_ = 0;
    }
    // While progress runs: whether it is time for what need not happen with every poll (sockets and the like).
    bool work_is_due() const noexcept { return work_due_; }
    // Counts a poll; false, without counting, when there is more to do than small messages.
    bool count_poll() noexcept {
        if (countdown_ == 1 || bulk_work_ != 0) [[unlikely]]
            return false;
        --countdown_;
        return true;
    }

    // While progress runs: false when messages have filled the caller's room; the rest of them waits for its receives.
    bool takes_messages() const noexcept { return takes_messages_; }

    // Lets every endpoint work.
    entry_type* progress_all(entry_type* out, entry_type* end) noexcept {
        if (countdown_ == 1)
            look_at_clock();
        else
            --countdown_;
        direct_to(out, end);
        for (std::size_t i = 0; i < bound_.size(); ++i) bound_[i]->progress(bound_[i]);
        work_due_ = false;
        return direct_back();
    }

    // ---- polling ------------------------------------------------------------------------------------------

    bool nothing_waits() const noexcept { return head_ == out_; }

    // Copies out what waits, as far as there is room, and returns where the next entry goes.
    entry_type* take_waiting(entry_type* to, entry_type* const to_end) noexcept {
        entry_type* from = head_;
        entry_type* const from_end = out_;
        while (from != from_end && to != to_end) *to++ = *from++;
        head_ = from;
        if (from == from_end) [[likely]]
            head_ = out_ = backlog_.get();
        if (overflowed_) [[unlikely]]
            refill();
        return to;
    }

    // The two halves of take_waiting() for the usual case that all of it fits.
    bool all_fits(std::size_t room) const noexcept {
        // In bytes: a distance of entries would be divided.
        return reinterpret_cast<std::uintptr_t>(out_) - reinterpret_cast<std::uintptr_t>(head_) <=
                   room * sizeof(entry_type) &&
               !overflowed_;
    }
    [[gnu::always_inline]] inline entry_type* take_all(entry_type* to) noexcept {
        const entry_type* from = head_;
        const entry_type* const from_end = out_;
        do {
            *to++ = *from++;
            asm("" : "+r"(to));  // or the optimiser would compute where it ends by a division
        } while (from != from_end);
        head_ = out_ = backlog_.get();
        return to;
    }

    // [entries, to) is filled already. `progress(out, end)` works, writes entries from `out` on and returns the place
    // behind them.
    template <class Progress>
    std::size_t poll_with(entry_type* const entries, entry_type* to, entry_type* const to_end,
                          Progress&& progress) noexcept {
        if (!nothing_waits()) to = take_waiting(to, to_end);
        if (to == to_end || !nothing_waits()) [[unlikely]] {
            // A caller with little room still makes progress, into the backlog.
            entry_type* const out = progress(out_, end_);
            out_ = out;
        } else {
            to = progress(to, to_end);
        }
        if (overflowed_) [[unlikely]]
            refill();
        return static_cast<std::size_t>(to - entries);
    }

    static std::size_t poll(weft_queue* q, void* room_begin, std::size_t room) noexcept {
        auto& self = *static_cast<completion_queue*>(q);
        const std::lock_guard guard(self.lock_);
        entry_type* const entries = static_cast<entry_type*>(room_begin);
        return self.poll_rest(entries, entries, entries + room);
    }
    // [entries, out) is filled already.
    [[gnu::noinline]] std::size_t poll_rest(entry_type* entries, entry_type* out, entry_type* end) noexcept {
        return poll_with(entries, out, end,
                         [this](entry_type* to, entry_type* to_end) noexcept { return progress_all(to, to_end); });
    }
    // Messages have filled the caller's room, [entries, out). Large ones still make progress, into the backlog.
    std::size_t poll_full(entry_type* entries, entry_type* out) noexcept {
        if (!count_poll()) {
            takes_messages_ = false;
            out_ = progress_all(out_, end_);
            takes_messages_ = true;
            if (overflowed_) [[unlikely]]
                refill();
        }
        return static_cast<std::size_t>(out - entries);
    }
    static void release_handle(weft_queue* q) noexcept { static_cast<completion_queue*>(q)->queue_base::release(); }

    static constexpr weft_queue_ops table = {sizeof(weft_queue_ops), poll, release_handle};

  private:
    completion_queue() noexcept
        : queue_base(&table, T, [](queue_base* q) noexcept { delete static_cast<completion_queue*>(q); }) {}
    ~completion_queue() = default;

    // Work is due once per period. Between two looks at the clock lie as many polls as make a fraction of a period at
    // the present rate, but never many: a thread that stops spinning and polls rarely must not wait for its contacts.
    [[gnu::cold, gnu::noinline]] void look_at_clock() noexcept {
        constexpr std::uint64_t polls_max = 64;  // spreads the clock's 25 ns over so many polls
        const std::uint64_t now = base::now_ns();
        const std::uint64_t elapsed = now - last_look_ns_;
        last_look_ns_ = now;
        interval_ = static_cast<std::uint32_t>(
            std::clamp<std::uint64_t>(interval_ * work_period_ns_ / (elapsed + 1), 1, polls_max));
        countdown_ = static_cast<std::uint32_t>(interval_);
        work_due_ = now - last_work_ns_ >= work_period_ns_;
        if (work_due_) last_work_ns_ = now;
    }
    // Moves what overflowed into the backlog as far as it fits, so that an empty backlog means nothing waits.
    [[gnu::cold, gnu::noinline]] void refill() noexcept {
        (void)make_room();
        const auto n = std::min(overflow_.size(), static_cast<std::size_t>(end_ - out_));
        std::copy_n(overflow_.begin(), n, out_);
        out_ += n;
        overflow_.erase(overflow_.begin(), overflow_.begin() + static_cast<std::ptrdiff_t>(n));
        overflowed_ = !overflow_.empty();
    }

    // Hot: one line.
    entry_type* out_ = nullptr;  // where the next entry goes
    entry_type* end_ = nullptr;  // end of the room there
    entry_type* head_ = nullptr;  // oldest unread entry of the backlog; equals out_ when there is none
    entry_type* backlog_end_ = nullptr;
    const polled* polled_ = nullptr;
    const polled* polled_end_ = nullptr;
    std::uint32_t countdown_ = 1;  // polls until work is due, that one included
    std::uint32_t bulk_work_ = 0;
    bool overflowed_ = false;  // overflow_ is not empty
    bool work_due_ = false;
    bool takes_messages_ = true;
    [[no_unique_address]] lock_type lock_;

    std::unique_ptr<entry_type[]> backlog_;
    std::vector<entry_type> overflow_;
    std::vector<progressable*> bound_;
    std::vector<polled> watched_;
    std::uint64_t interval_ = 1;  // what countdown_ was set to
    std::uint64_t last_look_ns_ = 0;
    std::uint64_t last_work_ns_ = 0;
    std::uint64_t work_period_ns_ = 0;
    std::uint64_t lost_ = 0;
};

}  // namespace weft::protocol
