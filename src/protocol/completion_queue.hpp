// The completion queue of endpoints driven by the protocol engine.
//
// Polling writes new entries straight into the caller's array: while a poll runs, `out_` points into that array.
// Entries made outside a poll (a buffered send is complete at once) wait in a linear backlog, which the next poll
// copies out first, so order is kept. The engine asks `has_room()` before it starts anything that ends in an entry;
// what must be reported without asking (cancel, death of a peer) may go to `overflow_`.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <type_traits>
#include <vector>
#include <weft/entry.hpp>
#include <weft/plugin.h>
#include <weft/spi/traits.hpp>
#include "base/assert.hpp"
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

// Reference-counted by the handle and by each endpoint bound to it; type-erased for owners.
class queue_base : public weft_queue {
  public:
    queue_base(const weft_queue_ops* table, spi::traits t) noexcept : weft_queue{table}, traits_(t) {}
    queue_base(const queue_base&) = delete;
    queue_base& operator=(const queue_base&) = delete;
    virtual ~queue_base() = default;

    spi::traits traits() const noexcept { return traits_; }
    void retain() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
    void release() noexcept {
        // Release orders our uses before the deletion; acquire makes the deleting thread see the others' uses.
        if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
    }

    // What has to stay loaded and alive as long as the queue (the provider's domain).
    std::shared_ptr<void> keeps;

  private:
    spi::traits traits_;
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
        if (polling_) return false;
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
        write(*out_++, c);
    }
    // Always succeeds unless memory is exhausted, in which case the entry is lost and counted.
    [[gnu::cold, gnu::noinline]] void emit_regardless(const completion& c) noexcept {
        if (overflow_.empty() && has_room()) return emit(c);
        try {
            write(overflow_.emplace_back(), c);
        } catch (const std::bad_alloc&) {
            ++lost_;
        }
    }

    // ---- endpoints ----------------------------------------------------------------------------------------

    // False when there is no memory. `single_table`: the queue's table to use while this is the only endpoint, whose
    // poll reaches it without an indirect call; null for none.
    bool bind(progressable* p, const weft_queue_ops* single_table) noexcept {
        try {
            bound_.push_back(p);
        } catch (const std::bad_alloc&) {
            return false;
        }
        // A table that another thread may be reading is not exchanged.
        if constexpr (!T.locked) {
            single_ = p;
            ops = bound_.size() == 1 && single_table != nullptr ? single_table : &table;
        }
        return true;
    }
    void unbind(progressable* p) noexcept {
        bound_.erase(std::remove(bound_.begin(), bound_.end(), p), bound_.end());
        if constexpr (!T.locked) ops = &table;
    }

    // Requires that exactly one is bound.
    progressable* single() const noexcept { return single_; }

    // ---- polling ------------------------------------------------------------------------------------------

    // `work` makes progress and emits entries. Entries go to the caller's room directly when nothing older waits.
    template <class Work>
    std::size_t poll_with(entry_type* entries, std::size_t room, Work&& work) noexcept {
        std::size_t n = 0;
        if (head_ != out_) n = drain(entries, room);
        if (n == room || head_ != out_) [[unlikely]] {
            work();  // into the backlog: a caller with little room still makes progress
            return n;
        }
        entry_type* const saved_out = out_;
        out_ = entries + n;
        end_ = entries + room;
        polling_ = true;
        work();
        polling_ = false;
        n = static_cast<std::size_t>(out_ - entries);
        out_ = saved_out;
        end_ = backlog_end_;
        if (!overflow_.empty()) [[unlikely]] refill();
        return n;
    }

    static std::size_t poll(weft_queue* q, void* entries, std::size_t room) noexcept {
        auto& self = *static_cast<completion_queue*>(q);
        const std::lock_guard guard(self.lock_);
        return self.poll_with(static_cast<entry_type*>(entries), room, [&]() noexcept {
            for (std::size_t i = 0; i < self.bound_.size(); ++i) self.bound_[i]->progress(self.bound_[i]);
        });
    }
    static void release_handle(weft_queue* q) noexcept { static_cast<completion_queue*>(q)->queue_base::release(); }

    static constexpr weft_queue_ops table = {sizeof(weft_queue_ops), poll, release_handle};

  private:
    completion_queue() noexcept : queue_base(&table, T) {}

    static void write(entry_type& e, const completion& c) noexcept {
        e.context = token{c.context};
        e.outcome = c.outcome;
        e.what = c.what;
        e.reserved = 0;
        e.flags = c.flags;
        if constexpr (T.format != spi::entry_format::tokens) {
            e.size = c.size;
            e.source = peer{c.source};
            e.data = remote_data{c.data};
        }
        if constexpr (T.format == spi::entry_format::tagged) e.tag = weft::tag{c.tag};
    }

    std::size_t drain(entry_type* entries, std::size_t room) noexcept {
        const std::size_t n = std::min(static_cast<std::size_t>(out_ - head_), room);
        for (std::size_t i = 0; i < n; ++i) entries[i] = head_[i];
        head_ += n;
        if (head_ == out_) [[likely]] head_ = out_ = backlog_.get();
        if (!overflow_.empty()) [[unlikely]] refill();
        return n;
    }
    // Moves what overflowed into the backlog as far as it fits, so that an empty backlog means nothing waits.
    [[gnu::cold, gnu::noinline]] void refill() noexcept {
        (void)make_room();
        const auto n = std::min(overflow_.size(), static_cast<std::size_t>(end_ - out_));
        std::copy_n(overflow_.begin(), n, out_);
        out_ += n;
        overflow_.erase(overflow_.begin(), overflow_.begin() + static_cast<std::ptrdiff_t>(n));
    }

    // Hot: one line.
    entry_type* out_ = nullptr;   // where the next entry goes
    entry_type* end_ = nullptr;   // end of the room there
    entry_type* head_ = nullptr;  // oldest unread entry of the backlog; equals out_ when there is none
    entry_type* backlog_end_ = nullptr;
    [[no_unique_address]] lock_type lock_;
    bool polling_ = false;
    progressable* single_ = nullptr;

    std::unique_ptr<entry_type[]> backlog_;
    std::vector<entry_type> overflow_;
    std::vector<progressable*> bound_;
    std::uint64_t lost_ = 0;
};

}  // namespace weft::protocol
