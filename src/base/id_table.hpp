// Numbers for objects that a peer will name back to us (a rendezvous, a remote operation).
//
// An id is a slot number and that slot's generation, so an id that is stale, repeated or invented finds nothing
// instead of another object. It is a protection against mistakes, not a secret: a peer can count.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

#include "base/assert.hpp"

namespace weft::base {

template <class T>
class id_table {
  public:
    static constexpr std::uint64_t none = 0;  // never the id of anything

    // At most `capacity` objects at a time. Allocates nothing yet. The table owns none of them.
    explicit id_table(std::uint32_t capacity) noexcept : capacity_(capacity) {}
    id_table(const id_table&) = delete;
    id_table& operator=(const id_table&) = delete;

    // The id of `object` (not null) until erase(), or `none` when the table is full or memory is exhausted.
    std::uint64_t insert(T* object) noexcept {
        WEFT_ASSERT(object != nullptr);
        if (first_free_ == no_slot && !grow()) [[unlikely]]
            return none;
        const std::uint32_t index = first_free_;
        slot& s = slots_[index];
        first_free_ = s.next_free;
        s.object = object;
        ++size_;
        return static_cast<std::uint64_t>(s.generation) << 32 | index;
    }

    // The object, or null for any number that is not the id of something in the table now.
    T* find(std::uint64_t id) const noexcept {
        const auto index = static_cast<std::uint32_t>(id);
        if (index >= slot_count_) [[unlikely]]
            return nullptr;
        const slot& s = slots_[index];
        return s.generation == static_cast<std::uint32_t>(id >> 32) ? s.object : nullptr;
    }

    // Removes and returns what find() would return.
    T* erase(std::uint64_t id) noexcept {
        T* object = find(id);
        if (object == nullptr) return nullptr;
        const auto index = static_cast<std::uint32_t>(id);
        slot& s = slots_[index];
        s.object = nullptr;
        --size_;
        // When all 2^32 generations of a slot are used up it is retired (its generation 0 is in no id) rather than
        // repeat an id; the table is then smaller by one.
        if (++s.generation != 0) [[likely]] {
            s.next_free = first_free_;
            first_free_ = index;
        }
        return object;
    }

    // Calls `visit(id, object)` for everything in the table; the visit may erase that id, and insert nothing.
    template <class Visit>
    void for_each(Visit&& visit) {
        for (std::uint32_t index = 0; index < slot_count_; ++index) {
            const slot& s = slots_[index];
            if (s.object != nullptr) visit(static_cast<std::uint64_t>(s.generation) << 32 | index, *s.object);
        }
    }

    std::uint32_t size() const noexcept { return size_; }

  private:
    static constexpr std::uint32_t no_slot = 0xffff'ffff;
    static constexpr std::uint32_t first_slots = 16;  // four cache lines; doubles from there

    struct slot {
        T* object = nullptr;
        std::uint32_t generation = 1;  // never 0, so that no id is 0
        std::uint32_t next_free = no_slot;
    };

    [[gnu::noinline, gnu::cold]] bool grow() noexcept {
        if (slot_count_ >= capacity_) return false;
        const std::uint32_t more = slot_count_ == 0 ? first_slots : slot_count_;
        const std::uint32_t count = capacity_ - slot_count_ < more ? capacity_ : slot_count_ + more;
        std::unique_ptr<slot[]> larger(new (std::nothrow) slot[count]);
        if (!larger) return false;
        for (std::uint32_t i = 0; i < slot_count_; ++i) larger[i] = slots_[i];
        for (std::uint32_t i = count; i-- > slot_count_;) {
            larger[i].next_free = first_free_;
            first_free_ = i;
        }
        slots_ = std::move(larger);
        slot_count_ = count;
        return true;
    }

    std::unique_ptr<slot[]> slots_;
    std::uint32_t slot_count_ = 0;
    std::uint32_t first_free_ = no_slot;
    std::uint32_t size_ = 0;
    std::uint32_t capacity_;
};

}  // namespace weft::base
