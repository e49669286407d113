// The handle of an endpoint: one pointer wide, move-only, its abilities in its type.
//
// Every call is one indirect call straight into code of the provider that was compiled for exactly the needs
// the endpoint was opened with. Calls never block and never throw. `try_again` means that nothing was started:
// poll the completion queue, then repeat the call.
//
// Threads: as `needs::threads` said. Buffers and pieces stay in use until the completion has been polled; the
// array of pieces itself only until the call returns.
#pragma once
#include <array>
#include <concepts>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include "buffer.hpp"
#include "capabilities.hpp"
#include "completion_queue.hpp"
#include "plugin.h"
#include "result.hpp"
#include "status.hpp"
#include "types.hpp"

namespace weft {

// Address bytes of an endpoint: a value, to be handed to others by whatever means the application has.
struct address {
    static constexpr std::size_t capacity = 48;
    std::array<std::byte, capacity> bytes{};
    std::size_t size = 0;
    std::span<const std::byte> view() const noexcept { return std::span(bytes).first(size); }
};

// How an endpoint reaches one peer at this moment.
struct path_info {
    std::string local, remote;  // address texts
    std::string state;          // "connected", "connecting", "idle", "refused", "gone"
    std::string mechanism;      // how large messages are copied
    std::uint64_t inline_max = 0, eager_max = 0;  // bytes, see weft_path
};

namespace detail {
inline status from_c(weft_status s) noexcept { return static_cast<errc>(s); }
inline const weft_piece* pieces_of(std::span<const const_buffer> p) noexcept {
    static_assert(sizeof(const_buffer) == sizeof(weft_piece));
    return reinterpret_cast<const weft_piece*>(p.data());
}
inline const weft_piece* pieces_of(std::span<const buffer> p) noexcept {
    static_assert(sizeof(buffer) == sizeof(weft_piece));
    return reinterpret_cast<const weft_piece*>(p.data());
}
WEFT_EXPORT result<path_info> path_of(weft_endpoint*, std::uint64_t peer);
WEFT_EXPORT std::string text_of_address(weft_endpoint*);
WEFT_EXPORT address address_of(weft_endpoint*) noexcept;
}  // namespace detail

template <capset C>
class endpoint {
    static constexpr bool has_msg = C.has(caps::msg);
    static constexpr bool has_tagged = C.has(caps::tagged);

  public:
    static constexpr capset abilities = C;

    endpoint() = default;
    explicit endpoint(weft_endpoint* adopted) noexcept : impl_(adopted) {}
    endpoint(endpoint&& o) noexcept : impl_(o.release()) {}
    endpoint& operator=(endpoint&& o) noexcept {
        if (this != &o) {
            reset();
            impl_ = o.release();
        }
        return *this;
    }
    // Giving an endpoint to code that needs less is implicit; the other way does not compile.
    template <capset D>
        requires(D.has(C) && !(D == C))
    endpoint(endpoint<D>&& o) noexcept : impl_(o.release()) {}
    ~endpoint() { reset(); }

    // ---- messages: matched in the order they were sent ------------------------------------------------

    status send(const_buffer b, peer to, token t) noexcept
        requires has_msg
    {
        return detail::from_c(impl_->ops->send(impl_, b.data, b.size, b.desc, to.value, t.pointer()));
    }
    status send(const_buffer b, peer to, quiet_t) noexcept
        requires has_msg
    {
        return detail::from_c(impl_->ops->send_quiet(impl_, b.data, b.size, b.desc, to.value));
    }
    status send(std::span<const const_buffer> pieces, peer to, token t) noexcept
        requires has_msg
    {
        return detail::from_c(
            impl_->ops->sendv(impl_, detail::pieces_of(pieces), pieces.size(), to.value, t.pointer()));
    }
    status send(const_buffer b, peer to, token t, remote_data d) noexcept
        requires has_msg
    {
        const weft_piece piece{const_cast<std::byte*>(b.data), b.size, b.desc};
        const weft_message m{&piece, 1, to.value, 0, 0, d.value, t.pointer()};
        return detail::from_c(impl_->ops->sendmsg(impl_, &m, WEFT_REMOTE_DATA));
    }
    // The buffer may be reused when the call returns; no completion. Up to `offer::inject_size_max` bytes.
    status inject(const_buffer b, peer to) noexcept
        requires has_msg
    {
        return detail::from_c(impl_->ops->inject(impl_, b.data, b.size, to.value));
    }
    status recv(buffer b, token t, peer from = any_peer) noexcept
        requires has_msg
    {
        return detail::from_c(impl_->ops->recv(impl_, b.data, b.size, b.desc, from.value, t.pointer()));
    }
    status recv(std::span<const buffer> pieces, token t, peer from = any_peer) noexcept
        requires has_msg
    {
        return detail::from_c(
            impl_->ops->recvv(impl_, detail::pieces_of(pieces), pieces.size(), from.value, t.pointer()));
    }

    // ---- tagged messages: a receive takes the earliest message with (tag ^ receive's tag) & ~ignore == 0 -----

    status send(const_buffer b, peer to, tag g, token t) noexcept
        requires has_tagged
    {
        return detail::from_c(impl_->ops->tsend(impl_, b.data, b.size, b.desc, to.value, g.value, t.pointer()));
    }
    status send(const_buffer b, peer to, tag g, quiet_t) noexcept
        requires has_tagged
    {
        return detail::from_c(impl_->ops->tsend_quiet(impl_, b.data, b.size, b.desc, to.value, g.value));
    }
    status send(std::span<const const_buffer> pieces, peer to, tag g, token t) noexcept
        requires has_tagged
    {
        return detail::from_c(
            impl_->ops->tsendv(impl_, detail::pieces_of(pieces), pieces.size(), to.value, g.value, t.pointer()));
    }
    status send(const_buffer b, peer to, tag g, token t, remote_data d) noexcept
        requires has_tagged
    {
        const weft_piece piece{const_cast<std::byte*>(b.data), b.size, b.desc};
        const weft_message m{&piece, 1, to.value, g.value, 0, d.value, t.pointer()};
        return detail::from_c(impl_->ops->tsendmsg(impl_, &m, WEFT_REMOTE_DATA));
    }
    status inject(const_buffer b, peer to, tag g) noexcept
        requires has_tagged
    {
        return detail::from_c(impl_->ops->tinject(impl_, b.data, b.size, to.value, g.value));
    }
    status recv(buffer b, tag g, token t, ignore_bits i = match_exactly, peer from = any_peer) noexcept
        requires has_tagged
    {
        return detail::from_c(
            impl_->ops->trecv(impl_, b.data, b.size, b.desc, from.value, g.value, i.value, t.pointer()));
    }
    status recv(std::span<const buffer> pieces, tag g, token t, ignore_bits i = match_exactly,
                peer from = any_peer) noexcept
        requires has_tagged
    {
        return detail::from_c(impl_->ops->trecvv(impl_, detail::pieces_of(pieces), pieces.size(), from.value, g.value,
                                                 i.value, t.pointer()));
    }

    // ---- set-up and inspection ------------------------------------------------------------------------

    // Ends the receives that were posted with this token; each completes once, with errc::canceled.
    // Answers no_message when there is none (it may have completed already).
    status cancel(token t) noexcept { return detail::from_c(impl_->ops->cancel(impl_, t.pointer())); }

    // Where others reach this endpoint: bytes for `domain::insert`, text for `domain::resolve`.
    weft::address address() const noexcept { return detail::address_of(impl_); }
    std::string address_text() const { return detail::text_of_address(impl_); }

    // The way to a peer: mechanism and thresholds, or why there is none.
    result<path_info> path(peer to) const { return detail::path_of(impl_, to.value); }

    // Cancels what is pending (each operation completes with errc::canceled) and returns when no buffer is
    // used any more. Calling it again is harmless; other calls answer errc::closed from then on.
    status close() noexcept { return impl_ != nullptr ? detail::from_c(impl_->ops->close(impl_)) : status{}; }

    explicit operator bool() const noexcept { return impl_ != nullptr; }
    weft_endpoint* impl() const noexcept { return impl_; }
    [[nodiscard]] weft_endpoint* release() noexcept { return std::exchange(impl_, nullptr); }

  private:
    void reset() noexcept {
        if (auto* gone = std::exchange(impl_, nullptr)) gone->ops->release(gone);
    }
    weft_endpoint* impl_ = nullptr;
};
static_assert(sizeof(endpoint < caps::tagged | caps::rma >) == sizeof(void*));

// Generic code is written against this, so that it accepts the handle and, in a program compiled together with
// a provider, the provider's own class.
template <class E>
concept tagged_endpoint = requires(E& e, const_buffer c, buffer b, peer p, tag g, token t) {
    { e.send(c, p, g, t) } noexcept -> std::same_as<status>;
    { e.recv(b, g, t) } noexcept -> std::same_as<status>;
};
static_assert(tagged_endpoint<endpoint<caps::tagged>>);
static_assert(!tagged_endpoint<endpoint<caps::msg>>);

}  // namespace weft
