#include "perf_control.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include <fmt/format.h>

namespace weft::tool {
namespace {

static_assert(std::is_trivially_copyable_v<control_message>);

// Any two numbers; a newcomer's message must not be taken for the partner's next one.
constexpr tag tag_hello{1};
constexpr tag tag_next{2};

constexpr std::uintptr_t token_newcomer = 1;
constexpr std::uintptr_t token_next = 2;
constexpr std::uintptr_t token_send = 3;

bool is_known(const control_message& m) noexcept {
    return m.kind >= control_kind::hello && m.kind <= control_kind::refused && m.order.test <= quantity::bandwidth &&
           m.op <= family::tagged && m.threads <= threading::any_thread && m.check <= checking::on;
}

}  // namespace

void control_message::set_address(const address& a) noexcept {
    address_size = static_cast<std::uint32_t>(a.size);
    address_bytes = a.bytes;
}

std::span<const std::byte> control_message::address_view() const noexcept {
    return std::span(address_bytes).first(std::min<std::size_t>(address_size, address_bytes.size()));
}

void control_message::set_failure(const failure& f) noexcept {
    error = static_cast<std::int32_t>(f.code == errc::ok ? errc::system_error : f.code);
    const std::size_t n = std::min(f.text.size(), text.size() - 1);
    std::memcpy(text.data(), f.text.data(), n);
    text[n] = '\0';
}

failure control_message::get_failure() const {
    return {static_cast<errc>(error), 0, std::string(text.data(), strnlen(text.data(), text.size()))};
}

control_end::control_end(domain d, completion_queue<entry::tagged> q, endpoint<caps::tagged> ep, watch& w)
    : domain_(std::move(d)), queue_(std::move(q)), watch_(w), endpoint_(std::move(ep)) {
    provider_ = domain_.what().provider;
}

control_end::~control_end() = default;

result<std::unique_ptr<control_end>> control_end::open(const fabric& fab, std::string_view provider,
                                                       std::string_view target, watch& w) {
    needs want;
    want.message_size_min = sizeof(control_message);
    want.posted_receives_min = 2;
    want.inject_size_min = 0;
    want.iov_count_min = 1;
    want.provider = provider;
    auto dom = target.empty() ? fab.best(caps::tagged, want) : fab.best_for(target, caps::tagged, want);
    if (!dom) return std::move(dom).error();
    auto queue = dom->open_queue<entry::tagged>({.depth = 64});  // three operations at most are under way
    if (!queue) return std::move(queue).error();
    auto ep = dom->open<caps::tagged>(want, *queue);
    if (!ep) return std::move(ep).error();
    return std::unique_ptr<control_end>(new control_end(*std::move(dom), *std::move(queue), *std::move(ep), w));
}

bool control_end::post(inbox& box, peer from, tag g, std::uintptr_t number) {
    if (box.posted) return true;
    box.arrived = false;
    while (true) {
        const status s = endpoint_.recv(bytes_of(box.message), g, token{number}, match_exactly, from);
        if (s.ok()) break;
        if (!s.again())
            return watch_.fail({s.code(), 0, fmt::format("cannot wait for a control message: {}", s.text())});
        if (!poll() || !watch_.idle()) return false;
    }
    box.posted = true;
    return true;
}

bool control_end::expect_newcomers() {
    return newcomer_.arrived || post(newcomer_, any_peer, tag_hello, token_newcomer);
}
bool control_end::expect(peer partner) { return post(next_, partner, tag_next, token_next); }

std::optional<control_end::arrival_of> control_end::take_newcomer() {
    if (!newcomer_.arrived) poll();
    if (!newcomer_.arrived) return {};
    newcomer_.arrived = false;
    return arrival_of{newcomer_.message, newcomer_.from};
}

std::optional<control_end::arrival_of> control_end::take() {
    if (!next_.arrived) poll();
    if (!next_.arrived) return {};
    next_.arrived = false;
    return arrival_of{next_.message, next_.from};
}

void control_end::drop_partner() {
    next_.arrived = false;
    if (!next_.posted) return;
    if (!endpoint_.cancel(token{token_next}).ok()) poll();
    // A cancelled receive completes at once; the bound is for a provider that does not keep to that.
    for (int turn = 0; turn < 100'000 && next_.posted; ++turn) poll();
}

bool control_end::poll() {
    std::array<entry::tagged, 8> room;
    bool fine = true;
    for (const entry::tagged& e : queue_.poll(room)) {
        const std::uintptr_t number = e.context.number();
        if (number == token_send || e.what == op::send) {
            sent_ = true;
            if (!e.outcome.ok())
                fine = watch_.fail(
                    {e.outcome.code(), 0, fmt::format("cannot reach the other side: {}", e.outcome.text())});
            continue;
        }
        inbox& box = number == token_newcomer ? newcomer_ : next_;
        box.posted = false;
        if (e.outcome.code() == errc::canceled) continue;
        if (!e.outcome.ok()) {
            const bool gone = e.outcome.code() == errc::peer_gone;
            if (&box == &next_)
                fine = watch_.fail({e.outcome.code(), 0,
                                    gone ? "the other side has died or was ended"
                                         : fmt::format("the other side cannot be heard: {}", e.outcome.text())});
            continue;
        }
        box.from = e.source;
        const control_message& m = box.message;
        if (e.size != sizeof m || m.magic != control_message::magic_wanted ||
            m.version != control_message::version_wanted || !is_known(m)) {
            // Of a stranger it is ignored; the partner has proved before that it speaks our language.
            if (&box == &next_)
                fine = watch_.fail({errc::version_mismatch, 0, "the other side is not 'weft perf' of this version"});
            continue;
        }
        box.arrived = true;
    }
    return fine;
}

bool control_end::send(peer to, const control_message& m) {
    outgoing_ = m;
    sent_ = false;
    while (true) {
        const status s = endpoint_.send(bytes_of(std::as_const(outgoing_)), to,
                                        m.kind == control_kind::hello ? tag_hello : tag_next, token{token_send});
        if (s.ok()) break;
        if (s.code() == errc::peer_gone) return watch_.fail({s.code(), 0, "the other side has died or was ended"});
        if (!s.again()) return watch_.fail({s.code(), 0, fmt::format("cannot reach the other side: {}", s.text())});
        if (!poll() || !watch_.idle()) return false;
    }
    while (!sent_)
        if (!poll() || !watch_.idle()) return false;
    return !watch_.failed();
}

}  // namespace weft::tool
