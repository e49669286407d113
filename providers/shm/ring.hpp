// Both ends of a single-producer ring of cache lines, each with an area for payloads that do not fit a line.
//
// A slot carries its own sequence number, so an idle consumer polls one cached line and a message costs one line
// transfer: there is no shared head or tail. Space comes back in batches through `released`, which the producer
// reads only when its own count says that the ring looks full.
//
// Payloads lie contiguously in the data area, in order. With a message of n bytes at most (area / 4), a released
// count that lags by at most a quarter, and a gap of less than n at the end of the area, there is always room once
// the consumer has caught up.
#pragma once
#include <atomic>
#include <cstdint>
#include <cstring>
#include "base/copy_small.hpp"
#include "shm/region.hpp"
#include "wire/message.hpp"

namespace weft::shm {

template <std::uint32_t Slots, std::uint32_t Bytes>
class producer {
  public:
    void attach(slot* slots, std::byte* data, const released* back) noexcept {
        slots_ = slots;
        data_ = data;
        back_ = back;
        limit_ = produced_ + Slots;
        data_limit_ = data_produced_ + Bytes;
    }
    // From now on there is never a slot.
    void detach() noexcept {
        limit_ = produced_;
        back_ = nullptr;
    }

    bool has_slot() const noexcept { return produced_ != limit_; }
    // For callers who look once: the count to hand to put_at(), and whether there is a slot for it.
    std::uint64_t next() const noexcept { return produced_; }
    bool is_slot(std::uint64_t count) const noexcept { return count != limit_; }
    // Reads what the consumer has released. Both counts come from the other process: a value that no correct consumer
    // writes is ignored, and the ring stays full.
    bool refresh() noexcept {
        if (back_ == nullptr) return false;
        const std::uint64_t slots = back_->slots.load(std::memory_order_acquire);  // pairs with consumer::publish
        const std::uint64_t bytes = back_->bytes.load(std::memory_order_acquire);  // pairs with consumer::publish
        if (produced_ - slots <= Slots) limit_ = slots + Slots;
        if (data_produced_ - bytes <= Bytes) data_limit_ = bytes + Bytes;
        return has_slot();
    }

    // A small message; `count` is next(), for which there is a slot. `n` is at most the payload's size.
    [[gnu::always_inline]] inline void put_small(std::uint64_t count, wire::kind k, std::uint64_t key,
                                                 const std::byte* payload, std::size_t n) noexcept {
        slot& s = slots_[count & (Slots - 1)];
        const std::uint64_t sequence = count + 1;
        produced_ = sequence;  // before the copy, which the compiler must assume to change anything
        base::copy_small(s.payload, payload, n);
        s.key = key;
        s.word.store(wire::header::pack_small(static_cast<std::uint16_t>(sequence), k, n),
                     std::memory_order_release);  // pairs with the acquire in consumer::front
    }
    // The others require has_slot().
    void put_with_data(wire::kind k, std::uint64_t key, std::uint64_t data, const std::byte* payload,
                       std::size_t n) noexcept {
        slot& s = slots_[produced_ & (Slots - 1)];
        std::memcpy(s.payload, &data, sizeof data);
        base::copy_small(s.payload + sizeof data, payload, n);
        publish(s, k, key, static_cast<std::uint32_t>(n));
    }
    template <class Body>
    void put_body(wire::kind k, std::uint64_t key, const Body& body, std::uint32_t size) noexcept {
        slot& s = slots_[produced_ & (Slots - 1)];
        wire::write_body(s.payload, body);
        publish(s, k, key, size);
    }

    // Room for `n` contiguous bytes, or null. The bytes belong to the slot that is put next.
    std::byte* reserve(std::uint32_t n, std::uint64_t& position) noexcept {
        const std::uint64_t rounded = (std::uint64_t{n} + 63) & ~std::uint64_t{63};
        std::uint64_t start = data_produced_;
        const std::uint64_t left = Bytes - (start & (Bytes - 1));
        if (left < rounded) start += left;
        if (start + rounded > data_limit_) return nullptr;
        position = start;
        reserved_end_ = start + rounded;
        return data_ + (start & (Bytes - 1));
    }
    // After the slot with the reserved bytes has been put.
    void commit_data() noexcept { data_produced_ = reserved_end_; }

  private:
    void publish(slot& s, wire::kind k, std::uint64_t key, std::uint32_t size) noexcept {
        s.key = key;
        const std::uint64_t sequence = ++produced_;
        s.word.store(wire::header::pack(static_cast<std::uint16_t>(sequence), k, size),
                     std::memory_order_release);  // pairs with the acquire in consumer::front
    }

    slot* slots_ = nullptr;
    std::uint64_t produced_ = 0;
    std::uint64_t limit_ = 0;
    const released* back_ = nullptr;
    std::byte* data_ = nullptr;
    std::uint64_t data_produced_ = 0;
    std::uint64_t data_limit_ = 0;
    std::uint64_t reserved_end_ = 0;
};

template <std::uint32_t Slots, std::uint32_t Bytes, std::uint32_t Batch>
class consumer {
  public:
    void attach(slot* slots, const std::byte* data, released* back) noexcept {
        first_ = next_ = slots;
        data_ = data;
        back_ = back;
    }
    // From now on it is always empty: what lies in the ring is not believed any more.
    void stop() noexcept {
        next_ = &nothing;
        expected_ = 1;
    }

    // The first word of the next packet; read once, since it is the other process's memory.
    std::uint64_t front() const noexcept { return next_->word.load(std::memory_order_acquire); }  // pairs with publish
    // Whether that packet is there.
    bool ready() const noexcept { return wire::header::sequence_of(front()) == expected_; }
    const slot& at_front() const noexcept { return *next_; }
    // Fetches the line `ahead` slots from here, or all up to there. Beyond the end of the ring lies mapped memory.
    void ask_for_one(std::size_t ahead) const noexcept { __builtin_prefetch(next_ + ahead); }
    void ask_for(std::size_t ahead) const noexcept {
        for (std::size_t i = 1; i < ahead; ++i) __builtin_prefetch(next_ + i);
    }
    // The kind of the packet that is ready: its byte alone, which spares shifts.
    std::uint32_t front_kind() const noexcept {
        return __atomic_load_n(reinterpret_cast<const std::uint8_t*>(&next_->word) + 2, __ATOMIC_RELAXED);
    }

    // The bytes of a payload in the data area, or null if no correct producer would have put them there.
    const std::byte* data(std::uint64_t position, std::uint32_t n) const noexcept {
        const std::uint64_t offset = position & (Bytes - 1);
        if (n > Bytes || offset + n > Bytes || position - bytes_ > Bytes) return nullptr;
        return data_ + offset;
    }

    [[gnu::always_inline]] inline void pop() noexcept {
        advance();
        if (batch_ends()) publish();
    }
    // As pop(), for a packet whose payload of `n` bytes lay at `position` in the data area.
    void pop_data(std::uint64_t position, std::uint32_t n) noexcept {
        bytes_ = position + ((std::uint64_t{n} + 63) & ~std::uint64_t{63});
        advance();
        if (batch_ends() || bytes_ - bytes_published_ >= Bytes / 8) publish();
    }

  private:
    static constexpr slot nothing{};  // its sequence number, 0, is not the expected 1

    // Rings begin at multiples of a batch's bytes, so the place tells.
    bool batch_ends() const noexcept {
        return (reinterpret_cast<std::uintptr_t>(next_) & (Batch * sizeof(slot) - 1)) == 0;
    }
    [[gnu::always_inline]] inline void advance() noexcept {
        const slot* const next = next_ + 1;
        next_ = next == first_ + Slots ? first_ : next;
        ++expected_;
    }
    [[gnu::always_inline]] inline void publish() noexcept {
        // Never more than a batch behind, so sixteen bits tell how many there were.
        consumed_ += static_cast<std::uint16_t>(expected_ - 1 - static_cast<std::uint16_t>(consumed_));
        bytes_published_ = bytes_;
        back_->bytes.store(bytes_, std::memory_order_release);  // pairs with the acquires in producer::refresh
        back_->slots.store(consumed_, std::memory_order_release);  // pairs with the acquires in producer::refresh
    }

    const slot* next_ = &nothing;
    const slot* first_ = nullptr;
    std::uint16_t expected_ = 1;  // sequence number of the next packet: one more than the packets taken
    std::uint64_t consumed_ = 0;  // packets taken, as last published
    const std::byte* data_ = nullptr;
    released* back_ = nullptr;
    std::uint64_t bytes_ = 0;
    std::uint64_t bytes_published_ = 0;
};

}  // namespace weft::shm
