#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <utility>

#include "loop.hpp"

namespace loop {
namespace {

constexpr std::uint64_t any_number = 0;  // numbers begin at 1

weft::entry::tagged entry_of(weft::op what, void* context, status outcome) {
    weft::entry::tagged e{};
    e.context = weft::token(context);
    e.what = what;
    e.outcome = outcome;
    return e;
}

std::uint64_t total(const weft_message& m) noexcept {
    std::uint64_t n = 0;
    for (std::size_t i = 0; i < m.count; ++i) n += m.pieces[i].size;
    return n;
}

weft_piece piece(const void* p, std::size_t n) noexcept { return {const_cast<void*>(p), n, nullptr}; }

}  // namespace

endpoint::endpoint(std::shared_ptr<room> where, std::shared_ptr<completions> done, std::uint32_t capabilities,
                   bool placed)
    : weft_endpoint{&weft::spi::endpoint_table<endpoint>::value},
      where_(std::move(where)),
      done_(std::move(done)),
      capabilities_(capabilities),
      placed_(placed) {
    const std::lock_guard guard(where_->lock);
    number_ = where_->next_number++;
    where_->open.emplace(number_, this);
}

endpoint::~endpoint() { static_cast<void>(close()); }

status endpoint::start_send(family f, const weft_message& m, std::uint32_t flags) noexcept try {
    constexpr std::uint32_t known = WEFT_QUIET | WEFT_REMOTE_DATA | WEFT_INJECT | WEFT_TRANSMITTED | WEFT_DELIVERED;
    if ((flags & ~known) != 0 || (capabilities_ >> f & 1u) == 0) return errc::not_supported;
    const std::uint64_t size = total(m);
    if (size > where_->message_size_max || ((flags & WEFT_INJECT) != 0 && size > inject_size_max))
        return errc::message_too_long;
    if (m.count > iov_count_max) return errc::invalid_argument;

    const std::lock_guard guard(where_->lock);
    if (closed_) return errc::closed;
    if (m.peer >= where_->peers.size()) return errc::invalid_argument;
    const std::uint64_t number = where_->peers[m.peer];
    const auto found = where_->open.find(number);
    if (found == where_->open.end()) return number < where_->next_number ? errc::peer_gone : errc::peer_unreachable;
    const bool quiet = (flags & WEFT_QUIET) != 0;
    endpoint& target = *found->second;
    if ((!quiet && done_->entries.size() >= done_->depth) || target.done_->entries.size() >= target.done_->depth ||
        target.unexpected_[f].size() >= where_->unexpected_max)
        return errc::try_again;

    message copy{{}, number_, m.tag, m.data, (flags & WEFT_REMOTE_DATA) != 0};
    copy.bytes.reserve(size);
    for (std::size_t i = 0; i < m.count; ++i) {
        const auto* from = static_cast<const std::byte*>(m.pieces[i].data);
        copy.bytes.insert(copy.bytes.end(), from, from + m.pieces[i].size);
    }
    target.arrive(f, std::move(copy));
    if (!quiet) {
        auto e = entry_of(weft::op::send, m.context, errc::ok);
        e.size = size;
        e.source = weft::peer(m.peer);
        e.tag = weft::tag(m.tag);
        done_->entries.push_back(e);
    }
    return {};
} catch (...) {
    return errc::no_memory;
}

status endpoint::start_receive(family f, const weft_message& m, std::uint32_t flags) noexcept try {
    if (flags != 0 || (capabilities_ >> f & 1u) == 0) return errc::not_supported;
    if (m.count > iov_count_max) return errc::invalid_argument;
    const std::lock_guard guard(where_->lock);
    if (closed_) return errc::closed;
    if (m.peer != WEFT_ANY_PEER && m.peer >= where_->peers.size()) return errc::invalid_argument;
    if (done_->entries.size() >= done_->depth || posted_[f].size() >= posted_receives_max) return errc::try_again;
    receive r{{m.pieces, m.pieces + m.count},
              m.peer == WEFT_ANY_PEER ? any_number : where_->peers[m.peer],
              m.tag,
              m.ignore,
              m.context};
    auto& waiting = unexpected_[f];
    const auto early = std::find_if(waiting.begin(), waiting.end(), [&](const message& u) { return matches(r, u); });
    if (early == waiting.end()) {
        posted_[f].push_back(std::move(r));
    } else {
        finish(r, *early);
        waiting.erase(early);
    }
    return {};
} catch (...) {
    return errc::no_memory;
}

bool endpoint::matches(const receive& r, const message& m) noexcept {
    return (r.from == any_number || r.from == m.source) && ((r.tag ^ m.tag) & ~r.ignore) == 0;
}

void endpoint::arrive(family f, message&& m) {
    auto& posted = posted_[f];
    const auto taker = std::find_if(posted.begin(), posted.end(), [&](const receive& r) { return matches(r, m); });
    if (taker == posted.end()) {
        unexpected_[f].push_back(std::move(m));
        return;
    }
    finish(*taker, m);
    posted.erase(taker);
}

void endpoint::finish(const receive& r, const message& m) {
    std::size_t copied = 0;
    for (const weft_piece& p : r.pieces) {
        const std::size_t n = std::min(p.size, m.bytes.size() - copied);
        if (n > 0) std::memcpy(p.data, m.bytes.data() + copied, n);
        copied += n;
    }
    auto e = entry_of(weft::op::recv, r.context, copied < m.bytes.size() ? errc::truncated : errc::ok);
    e.size = copied;
    e.source = weft::peer(where_->enter(m.source));
    e.tag = weft::tag(m.tag);
    e.data = weft::remote_data(m.data);
    e.flags = m.has_data ? weft::entry::has_data : std::uint16_t{0};
    done_->entries.push_back(e);
}

status endpoint::send(const std::byte* p, std::size_t n, std::uint64_t to, void* c) noexcept {
    const weft_piece one = piece(p, n);
    return start_send(plain, {&one, 1, to, 0, 0, 0, c}, 0);
}
status endpoint::send_quiet(const std::byte* p, std::size_t n, std::uint64_t to) noexcept {
    const weft_piece one = piece(p, n);
    return start_send(plain, {&one, 1, to, 0, 0, 0, nullptr}, WEFT_QUIET);
}
status endpoint::inject(const std::byte* p, std::size_t n, std::uint64_t to) noexcept {
    const weft_piece one = piece(p, n);
    return start_send(plain, {&one, 1, to, 0, 0, 0, nullptr}, WEFT_QUIET | WEFT_INJECT);
}
status endpoint::sendv(const weft_piece* v, std::size_t n, std::uint64_t to, void* c) noexcept {
    return start_send(plain, {v, n, to, 0, 0, 0, c}, 0);
}
status endpoint::sendmsg(const weft_message& m, std::uint32_t flags) noexcept {
    return start_send(plain, {m.pieces, m.count, m.peer, 0, 0, m.data, m.context}, flags);
}
status endpoint::recv(std::byte* p, std::size_t n, std::uint64_t from, void* c) noexcept {
    const weft_piece one = piece(p, n);
    return start_receive(plain, {&one, 1, from, 0, 0, 0, c}, 0);
}
status endpoint::recvv(const weft_piece* v, std::size_t n, std::uint64_t from, void* c) noexcept {
    return start_receive(plain, {v, n, from, 0, 0, 0, c}, 0);
}
status endpoint::recvmsg(const weft_message& m, std::uint32_t flags) noexcept {
    return start_receive(plain, {m.pieces, m.count, m.peer, 0, 0, 0, m.context}, flags);
}
status endpoint::tsend(const std::byte* p, std::size_t n, std::uint64_t to, std::uint64_t tag, void* c) noexcept {
    const weft_piece one = piece(p, n);
    return start_send(tagged, {&one, 1, to, tag, 0, 0, c}, 0);
}
status endpoint::tsend_quiet(const std::byte* p, std::size_t n, std::uint64_t to, std::uint64_t tag) noexcept {
    const weft_piece one = piece(p, n);
    return start_send(tagged, {&one, 1, to, tag, 0, 0, nullptr}, WEFT_QUIET);
}
status endpoint::tinject(const std::byte* p, std::size_t n, std::uint64_t to, std::uint64_t tag) noexcept {
    const weft_piece one = piece(p, n);
    return start_send(tagged, {&one, 1, to, tag, 0, 0, nullptr}, WEFT_QUIET | WEFT_INJECT);
}
status endpoint::tsendv(const weft_piece* v, std::size_t n, std::uint64_t to, std::uint64_t tag, void* c) noexcept {
    return start_send(tagged, {v, n, to, tag, 0, 0, c}, 0);
}
status endpoint::tsendmsg(const weft_message& m, std::uint32_t flags) noexcept { return start_send(tagged, m, flags); }
status endpoint::trecv(std::byte* p, std::size_t n, std::uint64_t from, std::uint64_t tag, std::uint64_t ignore,
                       void* c) noexcept {
    const weft_piece one = piece(p, n);
    return start_receive(tagged, {&one, 1, from, tag, ignore, 0, c}, 0);
}
status endpoint::trecvv(const weft_piece* v, std::size_t n, std::uint64_t from, std::uint64_t tag, std::uint64_t ignore,
                        void* c) noexcept {
    return start_receive(tagged, {v, n, from, tag, ignore, 0, c}, 0);
}
status endpoint::trecvmsg(const weft_message& m, std::uint32_t flags) noexcept {
    return start_receive(tagged, m, flags);
}

status endpoint::cancel(void* context) noexcept try {
    const std::lock_guard guard(where_->lock);
    if (closed_) return errc::closed;
    bool found = false;
    for (auto& posted : posted_) {
        for (auto r = posted.begin(); r != posted.end();) {
            if (r->context != context) {
                ++r;
                continue;
            }
            done_->entries.push_back(entry_of(weft::op::recv, context, errc::canceled));
            r = posted.erase(r);
            found = true;
        }
    }
    return found ? errc::ok : errc::no_message;
} catch (...) {
    return errc::no_memory;
}

status endpoint::address(void* bytes, std::size_t* size) noexcept {
    const std::size_t room_there = std::exchange(*size, sizeof number_);
    if (room_there < sizeof number_) return errc::message_too_long;
    std::memcpy(bytes, &number_, sizeof number_);
    return {};
}

status endpoint::path(std::uint64_t to, weft_path* p, weft_failure* why) noexcept {
    const std::lock_guard guard(where_->lock);
    if (to != WEFT_ANY_PEER && to >= where_->peers.size()) {
        why->code = static_cast<std::int32_t>(errc::invalid_argument);
        std::snprintf(why->text, sizeof why->text, "loop: peer %" PRIu64 " was never given out by this domain", to);
        return errc::invalid_argument;
    }
    std::snprintf(p->local, sizeof p->local, "loop://%" PRIu64, number_);
    std::snprintf(p->mechanism, sizeof p->mechanism, "copy");
    p->inline_max = p->eager_max = where_->message_size_max;
    if (to == WEFT_ANY_PEER) return {};
    const std::uint64_t number = where_->peers[to];
    std::snprintf(p->remote, sizeof p->remote, "loop://%" PRIu64, number);
    const bool there = where_->open.count(number) != 0;
    std::snprintf(p->state, sizeof p->state, "%s",
                  there ? "connected" : (number < where_->next_number ? "gone" : "idle"));
    return {};
}

status endpoint::close() noexcept try {
    const std::lock_guard guard(where_->lock);
    if (closed_) return {};
    closed_ = true;
    where_->open.erase(number_);
    for (auto& posted : posted_) {
        for (const receive& r : posted) done_->entries.push_back(entry_of(weft::op::recv, r.context, errc::canceled));
        posted.clear();
    }
    for (auto& waiting : unexpected_) waiting.clear();
    return {};
} catch (...) {
    return errc::no_memory;
}

void endpoint::release() noexcept {
    if (placed_)
        this->~endpoint();
    else
        delete this;
}

}  // namespace loop
