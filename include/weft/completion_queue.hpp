// The handle of a completion queue: where operations of its endpoints end, each exactly once.
//
// Polling also drives progress: with `progress::by_caller` an endpoint works (answers peers, moves large
// messages, accepts contacts) while its queue is polled.
#pragma once
#include <span>
#include <utility>
#include "entry.hpp"
#include "plugin.h"

namespace weft {

namespace detail {
template <class Entry>
inline constexpr std::uint32_t format_of = [] {
    static_assert(sizeof(Entry) == 0, "the entry formats are entry::tokens, entry::message and entry::tagged");
    return 0u;
}();
template <>
inline constexpr std::uint32_t format_of<entry::tokens> = WEFT_ENTRY_TOKENS;
template <>
inline constexpr std::uint32_t format_of<entry::message> = WEFT_ENTRY_MESSAGE;
template <>
inline constexpr std::uint32_t format_of<entry::tagged> = WEFT_ENTRY_TAGGED;
}  // namespace detail

// Move-only, one pointer wide. Endpoints share ownership of what is behind it, so the order of destruction
// does not matter; entries still unread when the handle goes are dropped.
template <class Entry = entry::tagged>
class completion_queue {
  public:
    using entry_type = Entry;

    completion_queue() = default;
    explicit completion_queue(weft_queue* adopted) noexcept : impl_(adopted) {}
    completion_queue(completion_queue&& o) noexcept : impl_(std::exchange(o.impl_, nullptr)) {}
    completion_queue& operator=(completion_queue&& o) noexcept {
        if (this != &o) {
            reset();
            impl_ = std::exchange(o.impl_, nullptr);
        }
        return *this;
    }
    ~completion_queue() { reset(); }

    // Takes what is there, drives progress, never blocks. Returns the filled front part of `room`; an empty
    // `room` only drives progress. Threads: as the queue was opened (`queue_options::threads`).
    std::span<Entry> poll(std::span<Entry> room) noexcept {
        return room.first(impl_->ops->poll(impl_, room.data(), room.size()));
    }

    explicit operator bool() const noexcept { return impl_ != nullptr; }
    weft_queue* impl() const noexcept { return impl_; }

  private:
    void reset() noexcept {
        if (auto* gone = std::exchange(impl_, nullptr)) gone->ops->release(gone);
    }
    weft_queue* impl_ = nullptr;
};

}  // namespace weft
