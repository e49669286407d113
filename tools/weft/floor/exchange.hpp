// The hand-written ways of moving a message that the floors are made of, and the two loops that time them.
//
// Each exchange moves messages of one size from the private outgoing buffer of one process to the private incoming
// buffer of the other: send(), receive(), and end() when nothing follows. Its two ends live in the two processes and
// count for themselves; the initiator clears what they share (clear(), partner_link::ask) before a measurement.
#pragma once
#include <bit>
#include <cstring>
#include <new>
#include <span>
#include <vector>
#include "floor/arena.hpp"
#include "floor/partner_link.hpp"
#include "floor/statistics.hpp"
#include "weft/result.hpp"

namespace weft::tool {

enum class arrival : std::uint8_t { message, end, broken };

template <class T>
std::span<std::byte> as_bytes_of(T& value) noexcept {
    return std::as_writable_bytes(std::span(&value, 1));
}

// Copies into shared memory; the streaming routine's stores are ordered before what is published next.
void copy_in(copy_routine routine, std::byte* to, const std::byte* from, std::size_t size) noexcept;

inline channel& outgoing(const partner_link& link) noexcept {
    return link.mine() == role::initiator ? link.shared().outward : link.shared().homeward;
}
inline channel& incoming(const partner_link& link) noexcept {
    return link.mine() == role::initiator ? link.shared().homeward : link.shared().outward;
}

// Whether a sender must look for room: in a ping-pong the reply itself says that the slot is free.
enum class flow : std::uint8_t { turns, stream };

// Slots with their own sequence number: a message up to 56 bytes costs one line transfer. Fixed is the number of
// bytes copied (at least the message's size, so that the copy is a few moves), or 0 to copy exactly the span's size.
template <std::size_t Fixed, flow Flow = flow::turns>
class slot_exchange {
  public:
    slot_exchange(partner_link& link, std::span<const std::byte> out, std::span<std::byte> in,
                  std::size_t window = 0) noexcept
        : link_(&link),
          out_(out.data()),
          in_(in.data()),
          size_(Fixed != 0 ? Fixed : out.size()),
          offset_(size_ > misaligned_max ? line_size : sizeof(std::uint64_t)),
          stride_((offset_ + size_ + line_size - 1) / line_size * line_size),
          slots_(Flow == flow::turns ? 1 : std::bit_floor(window / stride_)),
          sender_(&outgoing(link)),
          receiver_(&incoming(link)) {}

    // Initiator, before asking.
    void clear() noexcept {
        for (channel* c : {sender_, receiver_}) {
            for (std::size_t i = 0; i < slots_; ++i) {
                slot* s = new (c->window.data() + i * stride_) slot;
                s->sequence.store(0, std::memory_order_relaxed);  // ordered by the release in partner_link::ask()
            }
        }
    }

    bool send() noexcept {
        if (!wait_for_room()) return false;
        slot* s = slot_of(*sender_, sent_);
        copy(payload_of(s), out_);
        // Pairs with the acquire in receive().
        s->sequence.store(++sent_, std::memory_order_release);
        return true;
    }

    arrival receive() noexcept {
        slot* s = slot_of(*receiver_, received_);
        const std::uint64_t expected = received_ + 1;
        std::uint64_t seen = 0;
        const bool arrived = link_->wait([&] {
            seen = s->sequence.load(std::memory_order_acquire);  // pairs with the releases in send() and end()
            return seen == expected || (seen & ended) != 0;
        });
        if (!arrived) return arrival::broken;
        if (seen != expected) return arrival::end;
        copy(in_, payload_of(s));
        ++received_;
        if constexpr (Flow == flow::stream) give_back();
        return arrival::message;
    }

    void end() noexcept {
        if (!wait_for_room()) return;
        slot_of(*sender_, sent_)->sequence.store(ended, std::memory_order_release);  // pairs with receive()
    }

  private:
    // Longer payloads start at a line of their own: from about 2 KiB memcpy is `rep movsb`, which on Zen 3 takes
    // five times as long when source and target lie differently within a line.
    static constexpr std::size_t misaligned_max = 1024;

    bool wait_for_room() noexcept {
        if constexpr (Flow == flow::stream) {
            if (sent_ - room_seen_ < slots_) [[likely]]
                return true;
            return link_->wait([&] {
                // Pairs with the release in give_back().
                room_seen_ = sender_->consumed.value.load(std::memory_order_acquire);
                return sent_ - room_seen_ < slots_;
            });
        }
        return true;
    }

    // Every quarter of the ring: rarely enough that the sender's line is not fought over, early enough that it
    // never stands still.
    void give_back() noexcept {
        if (received_ - given_back_ < slots_ / 4) [[likely]]
            return;
        given_back_ = received_;
        receiver_->consumed.value.store(received_, std::memory_order_release);  // pairs with wait_for_room()
    }

    slot* slot_of(channel& c, std::uint64_t number) const noexcept {
        const std::size_t index = Flow == flow::turns ? 0 : static_cast<std::size_t>(number) & (slots_ - 1);
        return std::launder(reinterpret_cast<slot*>(c.window.data() + index * stride_));
    }

    // A long payload runs on through the rest of the stride.
    std::byte* payload_of(slot* s) const noexcept { return reinterpret_cast<std::byte*>(s) + offset_; }

    void copy(std::byte* to, const std::byte* from) const noexcept {
        if constexpr (Fixed != 0) {
            std::memcpy(to, from, Fixed);
        } else {
            std::memcpy(to, from, size_);
        }
    }

    partner_link* link_;
    const std::byte* out_;
    std::byte* in_;
    std::size_t size_;
    std::size_t offset_;
    std::size_t stride_;
    std::size_t slots_;  // a power of two
    channel* sender_;
    channel* receiver_;
    std::uint64_t sent_ = 0;
    std::uint64_t room_seen_ = 0;
    std::uint64_t received_ = 0;
    std::uint64_t given_back_ = 0;
};

// Copy in and copy out at the same time, through a ring of blocks. A message shorter than a block takes one.
class block_exchange {
  public:
    block_exchange(partner_link& link, std::span<const std::byte> out, std::span<std::byte> in, const way& w) noexcept;

    bool send() noexcept;
    arrival receive() noexcept;
    void end() noexcept;

  private:
    std::byte* block_of(channel& c, std::uint64_t number) const noexcept {
        return c.window.data() + (number % blocks_) * stride_;
    }
    void give_back() noexcept;

    partner_link* link_;
    std::span<const std::byte> out_;
    std::span<std::byte> in_;
    copy_routine routine_;
    std::size_t block_;
    std::size_t stride_;  // block_, or less when messages are shorter
    std::uint64_t blocks_;
    std::uint64_t unreported_max_;
    channel* sender_;
    channel* receiver_;
    std::uint64_t sent_ = 0;
    std::uint64_t room_seen_ = 0;
    std::uint64_t received_ = 0;
    std::uint64_t arrived_seen_ = 0;
    std::uint64_t given_back_ = 0;
};

// The receiver reads the sender's buffer. What send() publishes is only that there is another message.
class attach_exchange {
  public:
    attach_exchange(partner_link& link, std::span<const std::byte> out, std::span<std::byte> in,
                    std::uint64_t partner_address) noexcept;

    bool send() noexcept;
    arrival receive() noexcept;
    void end() noexcept;
    int error() const noexcept { return error_; }  // errno of a failed read, which ends the link

  private:
    partner_link* link_;
    std::span<std::byte> in_;
    std::uint64_t partner_address_;
    channel* sender_;
    channel* receiver_;
    std::uint64_t sent_ = 0;
    std::uint64_t received_ = 0;
    int error_ = 0;
};

// Reads `to.size()` bytes of another process; 0 or errno.
int read_from_process(pid_t process, std::uint64_t address, std::span<std::byte> to) noexcept;

struct ping_pong_plan {
    std::uint64_t rounds_per_batch = 1;  // round trips between two readings of the clock
    std::uint64_t duration_ns = 0;
};

// Initiator: half a round trip in ns, the median over batches. Ends the measurement.
template <class Exchange>
result<double> ping_pong(partner_link& link, Exchange& x, const ping_pong_plan& plan) {
    // 4,096 batches are more than a slice of some milliseconds holds; beyond, the median is known well enough.
    constexpr std::size_t batches_max = 4096;
    constexpr std::size_t batches_min = 3;
    std::vector<std::uint64_t> batches;
    batches.reserve(batches_max);
    const std::uint64_t start = link.clock().now();
    const std::uint64_t stop = start + link.clock().to_ticks(plan.duration_ns);
    std::uint64_t before = start;
    while ((before < stop || batches.size() < batches_min) && batches.size() < batches_max) {
        for (std::uint64_t i = 0; i < plan.rounds_per_batch; ++i) {
            if (!x.send() || x.receive() != arrival::message) return link.why();
        }
        const std::uint64_t now = link.clock().now();
        batches.push_back(now - before);
        before = now;
    }
    x.end();
    if (!link.finish()) return link.why();
    return link.clock().to_ns(median(batches)) / (2.0 * static_cast<double>(plan.rounds_per_batch));
}

// Responder's part; false when the link broke.
template <class Exchange>
bool answer_ping_pong(Exchange& x) noexcept {
    for (;;) {
        const arrival a = x.receive();
        if (a != arrival::message) return a == arrival::end;
        if (!x.send()) return false;
    }
}

struct stream_plan {
    std::uint64_t messages_per_batch = 1;  // between two readings of the clock
    std::uint64_t duration_ns = 0;
};

// Initiator: messages per second in one direction, from the first send until the responder has taken the last one.
// Ends the measurement.
template <class Exchange>
result<double> stream(partner_link& link, Exchange& x, const stream_plan& plan) {
    const std::uint64_t start = link.clock().now();
    const std::uint64_t stop = start + link.clock().to_ticks(plan.duration_ns);
    std::uint64_t messages = 0;
    do {
        for (std::uint64_t i = 0; i < plan.messages_per_batch; ++i) {
            if (!x.send()) return link.why();
        }
        messages += plan.messages_per_batch;
    } while (link.clock().now() < stop);
    x.end();
    if (!link.finish()) return link.why();
    return static_cast<double>(messages) * 1e9 / link.clock().to_ns(link.clock().now() - start);
}

template <class Exchange>
bool answer_stream(Exchange& x) noexcept {
    for (;;) {
        const arrival a = x.receive();
        if (a != arrival::message) return a == arrival::end;
    }
}

}  // namespace weft::tool
