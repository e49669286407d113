// The measured loops, written once for every family, entry format and with or without checking.
//
// Nothing in them is virtual or allocates. One end has one peer; receives take from anybody, as most programs' do, so
// that a peer's death is looked for when nothing has come for a while.
// Buffers: one of each kind, reused by all transfers in flight; with checking one per transfer in flight.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "floor/cycle_clock.hpp"
#include "floor/statistics.hpp"
#include "perf_pattern.hpp"
#include "perf_watch.hpp"
#include "perf_work.hpp"
#include "weft/completion_queue.hpp"
#include "weft/endpoint.hpp"

namespace weft::tool {

// How the two families are called.
struct untagged_family {
    static constexpr capset abilities = caps::msg;
    template <class Endpoint>
    static status send(Endpoint& ep, const_buffer b, peer to, token t) noexcept {
        return ep.send(b, to, t);
    }
    template <class Endpoint>
    static status recv(Endpoint& ep, buffer b, token t) noexcept {
        return ep.recv(b, t);
    }
};
struct tagged_family {
    static constexpr capset abilities = caps::tagged;
    static constexpr tag data_tag{7};  // any
    template <class Endpoint>
    static status send(Endpoint& ep, const_buffer b, peer to, token t) noexcept {
        return ep.send(b, to, data_tag, t);
    }
    template <class Endpoint>
    static status recv(Endpoint& ep, buffer b, token t) noexcept {
        return ep.recv(b, data_tag, t);
    }
};

// The endpoint under test with its queue and its one peer.
template <class Family, class Entry, checking Check>
class loop_end {
  public:
    using endpoint_type = endpoint<Family::abilities>;
    static constexpr bool checks = Check == checking::on;

    loop_end(endpoint_type& ep, completion_queue<Entry>& queue, peer other, transfer_memory memory, watch& w) noexcept
        : ep_(ep), queue_(queue), other_(other), memory_(memory), watch_(w) {
        watch_.also_about_peer([this] {
            const auto way = ep_.path(other_);
            if (way && way->state != "gone") return true;
            return watch_.fail({errc::peer_gone, 0, "the other side has died or was ended"});
        });
    }
    ~loop_end() { watch_.also_about_peer(nullptr); }
    loop_end(const loop_end&) = delete;
    loop_end& operator=(const loop_end&) = delete;

    // Initiator: `order.count` round trips. Half of each, in ns, goes to `times`; returns the median, or a negative
    // number for failure (see the watch).
    double ping(const slice_order& order, const cycle_clock& clock, histogram& times) noexcept {
        begin(order);
        stamps_.clear();
        stamps_.reserve(order.count + 1);
        stamps_.push_back(stamp(clock));
        for (std::uint64_t i = 0; i < order.count; ++i) {
            if (!post_recv(0)) return -1;
            if constexpr (checks) fill_pattern(out(0), outward(i));
            if (!post_send(0)) return -1;
            while (received_ <= i || sent_ <= i)
                if (!reap([](const Entry&) { return true; })) return -1;
            if constexpr (checks)
                if (!verify(0, homeward(i))) return -1;
            // From one reply to the next: posting the receive counts, as it does on the other side.
            stamps_.push_back(stamp(clock));
        }
        return record_halves(clock, times);
    }

    // Responder. Its first receive is posted by prepare().
    bool pong(const slice_order& order) noexcept {
        for (std::uint64_t i = 0; i < order.count; ++i) {
            while (received_ <= i || sent_ < i)
                if (!reap([](const Entry&) { return true; })) return false;
            if constexpr (checks)
                if (!verify(0, outward(i))) return false;
            if (i + 1 < order.count && !post_recv(0)) return false;
            if constexpr (checks) fill_pattern(out(0), homeward(i));
            if (!post_send(0)) return false;
        }
        return wait_sent(order.count);
    }

    // Initiator: messages one way, at most `order.window` of them in flight.
    bool stream(const slice_order& order) noexcept {
        begin(order);
        if constexpr (checks) free_all(order.window);
        std::uint64_t posted = 0;
        while (sent_ < order.count) {
            while (posted < order.count && posted - sent_ < order.window) {
                std::uint32_t slot = 0;
                if constexpr (checks) {
                    slot = free_.back();
                    fill_pattern(out(slot), outward(posted));
                }
                const status s = Family::send(ep_, out(slot), other_, token{std::uintptr_t{slot}});
                if (s.again()) break;
                if (!s.ok()) return refuse("send", s);
                if constexpr (checks) free_.pop_back();
                ++posted;
            }
            const bool fine = reap([this](const Entry& e) {
                if constexpr (checks) free_.push_back(static_cast<std::uint32_t>(e.context.number()));
                return true;
            });
            if (!fine) return false;
        }
        return true;
    }

    // Responder: takes the messages; returns how many per second, or a negative number for failure. prepare()
    // posted the first window.
    double sink(const slice_order& order, const cycle_clock& clock) noexcept {
        const std::uint64_t ready = clock.now();
        std::uint64_t start = 0;
        std::uint64_t before_start = 0;
        while (received_ < order.count) {
            std::uint32_t freed = 0;
            std::array<std::uint32_t, batch> slots;
            const bool fine = reap([&](const Entry& e) {
                const auto slot = static_cast<std::uint32_t>(e.context.number());
                if constexpr (checks) {
                    if (!verify(slot, outward(expected_[slot]))) return false;
                }
                slots[freed++] = slot;
                return true;
            });
            if (!fine) return -1;
            if (start == 0 && received_ != 0) {
                start = clock.now();
                before_start = received_;
            }
            for (std::uint32_t i = 0; i < freed && receives_posted_ < order.count; ++i) {
                // Tries again with a poll of its own would reap entries out of this loop: they wait in the queue.
                if (!post_recv_without_reaping(slots[i])) return -1;
            }
        }
        const std::uint64_t end = clock.now();
        // A slice that arrived in one batch has no time of its own: count from when everything was posted.
        if (before_start == order.count) return per_second(order.count, clock.to_ns(end - ready));
        return per_second(order.count - before_start, clock.to_ns(end - start));
    }

    // Responder, before the initiator starts: what a slice needs posted.
    bool prepare(const slice_order& order) noexcept {
        begin(order);
        if constexpr (checks) expected_.assign(order.window, 0);
        const std::uint64_t window = std::min<std::uint64_t>(order.window, order.count);
        const std::uint64_t receives = order.test == quantity::latency ? 1 : window;
        for (std::uint32_t slot = 0; slot < receives; ++slot)
            if (!post_recv_without_reaping(slot)) return false;
        return true;
    }

    // Drives progress between slices.
    bool poll() noexcept {
        const auto got = queue_.poll(room_);
        for (const Entry& e : got)
            if (!e.outcome.ok()) return refuse("transfer", e.outcome);
        return true;
    }

  private:
    // Enough to spread a poll's fixed cost, few enough that the entries stay in the first cache.
    static constexpr std::size_t batch = 16;

    // Transfers out and home have patterns of their own.
    std::uint64_t outward(std::uint64_t i) const noexcept { return 2 * (first_ + i); }
    std::uint64_t homeward(std::uint64_t i) const noexcept { return 2 * (first_ + i) + 1; }

    void begin(const slice_order& order) noexcept {
        size_ = order.size;
        first_ = order.first;
        received_ = sent_ = receives_posted_ = 0;
        watch_.busy();
    }

    std::span<std::byte> slot_of(std::span<std::byte> memory, std::uint32_t slot) const noexcept {
        if constexpr (checks) return memory.subspan(slot * size_, size_);
        return memory.first(size_);
    }
    std::span<std::byte> out(std::uint32_t slot) const noexcept { return slot_of(memory_.out, slot); }
    std::span<std::byte> in(std::uint32_t slot) const noexcept { return slot_of(memory_.in, slot); }

    // Polls once. on_entry sees every success of a direction the caller waits for.
    template <class OnEntry>
    bool reap(OnEntry on_entry) noexcept {
        const std::span<Entry> got = queue_.poll(room_);
        if (got.empty()) return watch_.idle();
        watch_.busy();
        for (const Entry& e : got) {
            if (!e.outcome.ok()) [[unlikely]]
                return refuse(e.what == op::recv ? "receive" : "send", e.outcome);
            if (e.what == op::recv) {
                ++received_;
                if constexpr (checks)
                    if (e.size != size_) return wrong_size(e.size);
            } else {
                ++sent_;
            }
            if (!on_entry(e)) return false;
        }
        return true;
    }

    bool post_send(std::uint32_t slot) noexcept {
        while (true) {
            const status s = Family::send(ep_, out(slot), other_, token{std::uintptr_t{slot}});
            if (s.ok()) [[likely]]
                return true;
            if (!s.again()) return refuse("send", s);
            if (!reap([](const Entry&) { return true; })) return false;
        }
    }
    bool post_recv(std::uint32_t slot) noexcept {
        while (true) {
            const status s = Family::recv(ep_, in(slot), token{std::uintptr_t{slot}});
            if (s.ok()) [[likely]]
                break;
            if (!s.again()) return refuse("receive", s);
            if (!reap([](const Entry&) { return true; })) return false;
        }
        ++receives_posted_;
        return true;
    }
    // For loops that must see every entry: an empty room only drives progress.
    bool post_recv_without_reaping(std::uint32_t slot) noexcept {
        if constexpr (checks) expected_[slot] = receives_posted_;
        while (true) {
            const status s = Family::recv(ep_, in(slot), token{std::uintptr_t{slot}});
            if (s.ok()) [[likely]]
                break;
            if (!s.again()) return refuse("receive", s);
            queue_.poll({});
            if (!watch_.idle()) return false;
        }
        ++receives_posted_;
        return true;
    }
    bool wait_sent(std::uint64_t count) noexcept {
        while (sent_ < count)
            if (!reap([](const Entry&) { return true; })) return false;
        return true;
    }

    void free_all(std::uint32_t window) noexcept {
        free_.clear();
        for (std::uint32_t slot = window; slot > 0; --slot) free_.push_back(slot - 1);
    }

    // Not fenced: the processor may go on with the next message, which then costs less than the clock does.
    static std::uint64_t stamp(const cycle_clock& clock) noexcept {
        return clock.uses_counter() ? base::cycles() : clock.now();
    }

    // Turns the stamps into times; after the slice, so that no round trip pays for it.
    double record_halves(const cycle_clock& clock, histogram& times) noexcept {
        for (std::size_t i = 0; i + 1 < stamps_.size(); ++i) {
            stamps_[i] = stamps_[i + 1] - stamps_[i];
            times.record(static_cast<std::uint64_t>(clock.to_ns(stamps_[i]) / 2 + 0.5));
        }
        stamps_.pop_back();
        return clock.to_ns(median(stamps_)) / 2;
    }

    static double per_second(std::uint64_t count, double ns) noexcept {
        return ns <= 0 ? 0 : static_cast<double>(count) * 1e9 / ns;
    }

    // Cold ends. All answer false.
    [[gnu::cold]] bool refuse(const char* what, status s) noexcept;
    [[gnu::cold]] bool wrong_size(std::uint64_t size) noexcept;
    bool verify(std::uint32_t slot, std::uint64_t sequence) noexcept;

    endpoint_type& ep_;
    completion_queue<Entry>& queue_;
    peer other_;
    transfer_memory memory_;
    watch& watch_;
    std::uint64_t size_ = 0;
    std::uint64_t first_ = 0;
    std::uint64_t received_ = 0;
    std::uint64_t sent_ = 0;
    std::uint64_t receives_posted_ = 0;
    std::array<Entry, batch> room_{};
    std::vector<std::uint64_t> stamps_;
    std::vector<std::uint32_t> free_;  // checking: slots for the next send
    std::vector<std::uint64_t> expected_;  // checking: which message each posted receive will match
};

template <class Family, class Entry, checking Check>
bool loop_end<Family, Entry, Check>::refuse(const char* what, status s) noexcept {
    if (s.code() == errc::peer_gone) return watch_.fail({s.code(), 0, "the other side has died or was ended"});
    return watch_.fail(
        {s.code(), 0, std::string("a ") + what + " of " + std::to_string(size_) + " bytes failed: " + s.text()});
}

template <class Family, class Entry, checking Check>
bool loop_end<Family, Entry, Check>::wrong_size(std::uint64_t size) noexcept {
    return watch_.fail(
        {errc::protocol_error, 0,
         "check: a message of " + std::to_string(size_) + " bytes arrived as one of " + std::to_string(size)});
}

template <class Family, class Entry, checking Check>
bool loop_end<Family, Entry, Check>::verify(std::uint32_t slot, std::uint64_t sequence) noexcept {
    const auto offset = find_mismatch(in(slot), sequence);
    if (!offset) [[likely]]
        return true;
    return watch_.fail({errc::protocol_error, 0,
                        "check: message " + std::to_string(sequence / 2) + " of " + std::to_string(size_) +
                            " bytes is wrong from offset " + std::to_string(*offset)});
}

}  // namespace weft::tool
