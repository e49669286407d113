// Pool of objects of one type: stable addresses, a bound, and a free list whose pop is the hot path.
//
// Grows by whole chunks and never shrinks, so that a warm pool allocates nothing. Not thread-safe: it lives under
// its owner's lock.
#pragma once
#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

#include "base/assert.hpp"

namespace weft::base {

template <class T>
class pool {
  public:
    // At most `capacity` objects, allocated `chunk_size` at a time (0 counts as 1). Allocates nothing yet.
    pool(std::size_t capacity, std::size_t chunk_size) noexcept
        : capacity_(capacity), chunk_size_(chunk_size == 0 ? 1 : chunk_size) {}
    pool(const pool&) = delete;
    pool& operator=(const pool&) = delete;
    // Requires that all objects came back: those still out would lose their memory without being destroyed.
    ~pool() {
        WEFT_ASSERT(in_use_ == 0);
        while (chunks_ != nullptr) {
            chunk* next = chunks_->next;
            ::operator delete(static_cast<void*>(chunks_), std::align_val_t{alignof(chunk)});
            chunks_ = next;
        }
    }

    // Null when the bound is reached or memory is exhausted. The most recently released slot comes first: it is
    // the one that is still in the cache.
    template <class... Args>
    T* acquire(Args&&... args) noexcept {
        static_assert(std::is_nothrow_constructible_v<T, Args...> && std::is_nothrow_destructible_v<T>);
        if (free_ == nullptr && !grow()) [[unlikely]]
            return nullptr;
        slot* taken = free_;
        free_ = taken->next_free;
        ++in_use_;
        return ::new (static_cast<void*>(taken->storage)) T(std::forward<Args>(args)...);
    }
    // Requires an object of this pool that is out. Null is ignored.
    void release(T* object) noexcept {
        if (object == nullptr) return;
        WEFT_ASSERT(in_use_ > 0);
        object->~T();
        slot* back = ::new (static_cast<void*>(object)) slot;
        back->next_free = free_;
        free_ = back;
        --in_use_;
    }

    // Allocates ahead until `count` objects exist (at most the capacity). False if memory is exhausted before.
    [[nodiscard]] bool reserve(std::size_t count) noexcept {
        if (count > capacity_) count = capacity_;
        while (allocated_ < count)
            if (!grow()) return false;
        return true;
    }

    std::size_t in_use() const noexcept { return in_use_; }
    std::size_t allocated() const noexcept { return allocated_; }
    std::size_t capacity() const noexcept { return capacity_; }

  private:
    union slot {
        slot() noexcept : next_free(nullptr) {}
        slot* next_free;
        alignas(T) std::byte storage[sizeof(T)];
    };
    struct alignas(alignof(slot) > alignof(void*) ? alignof(slot) : alignof(void*)) chunk {
        chunk* next;
    };

    [[gnu::noinline, gnu::cold]] bool grow() noexcept {
        const std::size_t left = capacity_ - allocated_;
        const std::size_t count = left < chunk_size_ ? left : chunk_size_;
        if (count == 0 || count > (static_cast<std::size_t>(-1) - sizeof(chunk)) / sizeof(slot)) return false;
        void* raw =
            ::operator new(sizeof(chunk) + count * sizeof(slot), std::align_val_t{alignof(chunk)}, std::nothrow);
        if (raw == nullptr) return false;
        chunks_ = ::new (raw) chunk{chunks_};
        std::byte* const first = static_cast<std::byte*>(raw) + sizeof(chunk);
        for (std::size_t i = count; i-- > 0;) {  // backwards, so that a new chunk is handed out in address order
            slot* made = ::new (static_cast<void*>(first + i * sizeof(slot))) slot;
            made->next_free = free_;
            free_ = made;
        }
        allocated_ += count;
        return true;
    }

    slot* free_ = nullptr;
    std::size_t in_use_ = 0;
    std::size_t allocated_ = 0;
    std::size_t capacity_;
    std::size_t chunk_size_;
    chunk* chunks_ = nullptr;
};

}  // namespace weft::base
