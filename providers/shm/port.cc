#include "shm/port.hpp"

#include <cstdio>
#include <cstring>

namespace weft::shm {
namespace {

std::string address_text(base::identity id) { return "shm://" + base::to_text(id); }
template <std::size_t N>
void put_text(char (&to)[N], const char* from) noexcept {
    std::snprintf(to, N, "%s", from);
}

}  // namespace

void port::deliver(std::uint64_t peer, std::unique_ptr<channel> opened) {
    const std::lock_guard locked(inbox_mutex_);
    inbox_.push_back({peer, std::move(opened)});
    filled_.store(true, std::memory_order_release);  // pairs with the acquire in work()
}

status port::address(void* bytes, std::size_t* size) const noexcept {
    const base::identity id = identity();
    const std::size_t room = *size;
    *size = sizeof id;
    if (room < sizeof id) return errc::invalid_argument;
    std::memcpy(bytes, &id, sizeof id);
    return {};
}

status port::describe_self(weft_path& p) const noexcept {
    try {
        put_text(p.local, address_text(identity()).c_str());
        return {};
    } catch (const std::exception&) {
        return errc::no_memory;
    }
}

status port::describe_path(std::uint64_t to, const channel& ch, weft_path& p, weft_failure& f) const noexcept {
    try {
        put_text(p.local, address_text(identity()).c_str());
        put_text(p.remote, address_text(domain_->peer(to).value_or(base::identity{})).c_str());
        put_text(p.mechanism, ch.mechanism());
        switch (ch.state) {
            case protocol::channel_state::open: put_text(p.state, "connected"); return {};
            case protocol::channel_state::closing:
            case protocol::channel_state::gone: put_text(p.state, "gone"); return {};
            case protocol::channel_state::absent: break;
        }
        const std::string why = domain_->why_not(const_cast<port&>(*this), to);
        put_text(p.state, waiting() ? "connecting" : why.empty() ? "idle" : "refused");
        if (why.empty()) return {};
        put_text(f.text, ("shm: " + why).c_str());
        f.code = static_cast<std::int32_t>(errc::peer_unreachable);
        return errc::peer_unreachable;
    } catch (const std::exception&) {
        return errc::no_memory;
    }
}

void port::log_fault(std::uint64_t peer, const char* what) const noexcept {
    try {
        const auto id = domain_->peer(peer);
        domain_->log(1, address_text(id.value_or(base::identity{})) + " " + what +
                            "; it is treated as gone, other peers are not affected");
    } catch (const std::exception&) {  // out of memory: the fault itself has been dealt with
    }
}

}  // namespace weft::shm
