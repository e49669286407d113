#include "floor/exchange.hpp"
#include <sys/uio.h>
#include <algorithm>
#include <cerrno>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace weft::tool {
namespace {

// How many announcements an attaching receiver may lag behind: enough that it never waits for the next.
constexpr std::uint64_t announced_max = 16;
// Below this a receiver collects blocks before it gives them back; a larger one is worth a line transfer by itself.
constexpr std::size_t give_back_bytes = 16384;

#if defined(__x86_64__)
void copy_streaming(std::byte* to, const std::byte* from, std::size_t size) noexcept {
    const std::size_t lines = size / line_size;
    for (std::size_t i = 0; i < lines; ++i, to += line_size, from += line_size) {
        auto* target = reinterpret_cast<__m128i*>(to);  // blocks start at a line, so the stores are aligned
        const auto* source = reinterpret_cast<const __m128i*>(from);
        const __m128i a = _mm_loadu_si128(source);
        const __m128i b = _mm_loadu_si128(source + 1);
        const __m128i c = _mm_loadu_si128(source + 2);
        const __m128i d = _mm_loadu_si128(source + 3);
        _mm_stream_si128(target, a);
        _mm_stream_si128(target + 1, b);
        _mm_stream_si128(target + 2, c);
        _mm_stream_si128(target + 3, d);
    }
    std::memcpy(to, from, size % line_size);
    _mm_sfence();  // streaming stores are not ordered by the release that publishes the block
}
#endif

std::size_t round_up(std::size_t size, std::size_t unit) noexcept { return (size + unit - 1) / unit * unit; }

}  // namespace

void copy_in(copy_routine routine, std::byte* to, const std::byte* from, std::size_t size) noexcept {
#if defined(__x86_64__)
    if (routine == copy_routine::string_move) {
        asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory");
        return;
    }
    if (routine == copy_routine::streaming) return copy_streaming(to, from, size);
#endif
    std::memcpy(to, from, size);
}

block_exchange::block_exchange(partner_link& link, std::span<const std::byte> out, std::span<std::byte> in,
                               const way& w) noexcept
    : link_(&link),
      out_(out),
      in_(in),
      routine_(w.copy_in),
      block_(w.block),
      stride_(std::min(round_up(w.block, line_size), round_up(out.size(), line_size))),
      blocks_(std::max<std::uint64_t>(w.window / stride_, 1)),
      unreported_max_(std::clamp<std::uint64_t>(give_back_bytes / stride_, 1, std::max<std::uint64_t>(blocks_ / 4, 1))),
      sender_(&outgoing(link)),
      receiver_(&incoming(link)) {}

bool block_exchange::send() noexcept {
    for (std::size_t offset = 0; offset < out_.size(); offset += block_) {
        if (sent_ - room_seen_ == blocks_) {
            const bool room = link_->wait([&] {
                // Pairs with the release in give_back().
                room_seen_ = sender_->consumed.value.load(std::memory_order_acquire);
                return sent_ - room_seen_ < blocks_;
            });
            if (!room) return false;
        }
        copy_in(routine_, block_of(*sender_, sent_), out_.data() + offset, std::min(block_, out_.size() - offset));
        // Pairs with the acquire in receive().
        sender_->produced.value.store(++sent_, std::memory_order_release);
    }
    return true;
}

arrival block_exchange::receive() noexcept {
    for (std::size_t offset = 0; offset < in_.size(); offset += block_) {
        if (arrived_seen_ == received_) {
            const bool arrived = link_->wait([&] {
                // Pairs with the releases in send() and end().
                const std::uint64_t seen = receiver_->produced.value.load(std::memory_order_acquire);
                arrived_seen_ = seen & ~ended;
                return arrived_seen_ != received_ || (seen & ended) != 0;
            });
            if (!arrived) return arrival::broken;
            if (arrived_seen_ == received_) return arrival::end;
        }
        std::memcpy(in_.data() + offset, block_of(*receiver_, received_), std::min(block_, in_.size() - offset));
        ++received_;
        give_back();
    }
    return arrival::message;
}

void block_exchange::give_back() noexcept {
    if (received_ - given_back_ < unreported_max_) return;
    given_back_ = received_;
    receiver_->consumed.value.store(received_, std::memory_order_release);  // pairs with the acquire in send()
}

void block_exchange::end() noexcept {
    sender_->produced.value.store(sent_ | ended, std::memory_order_release);  // pairs with the acquire in receive()
}

attach_exchange::attach_exchange(partner_link& link, std::span<const std::byte>, std::span<std::byte> in,
                                 std::uint64_t partner_address) noexcept
    : link_(&link), in_(in), partner_address_(partner_address), sender_(&outgoing(link)), receiver_(&incoming(link)) {}

bool attach_exchange::send() noexcept {
    const bool room = link_->wait([&] {
        // Pairs with the release in receive(): the buffer has been read that often.
        return sent_ - sender_->consumed.value.load(std::memory_order_acquire) < announced_max;
    });
    // Pairs with the acquire in receive(): the outgoing buffer's content is visible.
    if (room) sender_->produced.value.store(++sent_, std::memory_order_release);
    return room;
}

arrival attach_exchange::receive() noexcept {
    std::uint64_t seen = 0;
    const bool arrived = link_->wait([&] {
        seen = receiver_->produced.value.load(std::memory_order_acquire);  // pairs with send() and end()
        return (seen & ~ended) != received_ || (seen & ended) != 0;
    });
    if (!arrived) return arrival::broken;
    if ((seen & ~ended) == received_) return arrival::end;
    error_ = read_from_process(link_->partner(), partner_address_, in_);
    if (error_ != 0) {
        link_->abandon();
        return arrival::broken;
    }
    receiver_->consumed.value.store(++received_, std::memory_order_release);  // pairs with the acquire in send()
    return arrival::message;
}

void attach_exchange::end() noexcept {
    sender_->produced.value.store(sent_ | ended, std::memory_order_release);  // pairs with the acquire in receive()
}

int read_from_process(pid_t process, std::uint64_t address, std::span<std::byte> to) noexcept {
    while (!to.empty()) {
        const iovec local{to.data(), to.size()};
        const iovec remote{reinterpret_cast<void*>(address), to.size()};
        const ssize_t got = process_vm_readv(process, &local, 1, &remote, 1, 0);
        if (got < 0) return errno;
        if (got == 0) return EFAULT;
        address += static_cast<std::uint64_t>(got);
        to = to.subspan(static_cast<std::size_t>(got));
    }
    return 0;
}

}  // namespace weft::tool
