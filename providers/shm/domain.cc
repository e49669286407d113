#include "shm/domain.hpp"

#include <unistd.h>
#include <cstdio>
#include "base/clock.hpp"
#include "shm/limits.hpp"
#include "shm/link.hpp"
#include "shm/port.hpp"

namespace weft::shm {
namespace {

constexpr std::string_view scheme = "shm://";

}  // namespace

domain::domain(weft_host* host, const options& o) : host_(host), options_(o) { host_->ops->retain(host_); }

domain::~domain() { host_->ops->release(host_); }

result<std::shared_ptr<domain>> domain::open(weft_host* host, const options& o) {
    std::shared_ptr<domain> d(new domain(host, o));
    auto id = base::random_identity();
    if (!id) return std::move(id).error();
    d->identity_ = domain_part(*id);
    auto value = base::random_number();
    if (!value) return std::move(value).error();
    d->probe_value_ = *value;
    // Numbers start anywhere, so that an address of an earlier life of a program does not fit by accident.
    d->next_port_ = static_cast<std::uint32_t>(*value >> 33) + 1;

    auto poller = os::epoll::create();
    if (!poller) return std::move(poller).error();
    d->epoll_ = *std::move(poller);
    auto listening = os::listener::open(d->socket_name_of(d->identity_), limits::listen_backlog);
    if (!listening) return std::move(listening).error();
    d->listener_ = *std::move(listening);
    if (auto added = d->epoll_.add(d->listener_.file(), os::ready::readable, 0); !added) return added.error();
    return d;
}

os::socket_name domain::socket_name_of(base::identity id) const {
    char name[48];
    std::snprintf(name, sizeof name, "weft-shm-%016llx%08llx", static_cast<unsigned long long>(id.high),
                  static_cast<unsigned long long>(id.low >> 32));
    if (options_.directory.empty()) return os::socket_name::abstract(name);
    return os::socket_name::path(options_.directory + "/" + name + ".sock");
}

void domain::log(int level, const std::string& text) const noexcept {
    if (host_->ops->log_enabled(host_, level, "shm") != 0) host_->ops->log(host_, level, "shm", text.c_str());
}

// ---- address vector -------------------------------------------------------------------------------------------

result<std::uint64_t> domain::resolve(std::string_view text) {
    const auto bad = [&](const std::string& what) {
        std::string shown(text.substr(0, 80));
        for (char& c : shown)
            if (c < ' ' || c > '~') c = '?';  // the text goes to terminals and through C strings
        return failure{errc::bad_address, 0,
                       "shm: \"" + shown + "\" is not an address: " + what +
                           "; an address has the form shm://<32 lower-case hexadecimal digits> and is what "
                           "endpoint::address_text() of the peer returns"};
    };
    if (!text.starts_with(scheme)) return bad("it does not begin with shm://");
    const std::string_view digits = text.substr(scheme.size());
    if (digits.size() != 32)
        return bad("there are " + std::to_string(digits.size()) + " characters after shm:// instead of 32");
    const auto id = base::parse_identity(digits);
    if (!id) return bad("what follows shm:// is not a hexadecimal number above zero in lower case");
    return insert(*id);
}

result<std::uint64_t> domain::insert(base::identity id) {
    if (!id || number_part(id) == 0)
        return failure{errc::bad_address, 0,
                       "shm: these address bytes name no endpoint; use those of endpoint::address()"};
    const std::lock_guard locked(mutex_);
    return insert_locked(id);
}

std::uint64_t domain::insert_locked(base::identity id) {
    const auto [at, fresh] = peer_index_.try_emplace(id, peers_.size());
    if (fresh) {
        peers_.push_back(id);
        known_peers_.store(peers_.size(), std::memory_order_release);  // pairs with the acquire in known_peers()
    }
    return at->second;
}

std::optional<base::identity> domain::peer(std::uint64_t index) const {
    const std::lock_guard locked(mutex_);
    if (index >= peers_.size()) return std::nullopt;
    return peers_[static_cast<std::size_t>(index)];
}

// ---- endpoints ------------------------------------------------------------------------------------------------

void domain::add(port& p) {
    const std::lock_guard locked(mutex_);
    while (next_port_ == 0 || ports_.contains(next_port_)) ++next_port_;
    p.number = next_port_++;
    ports_.emplace(p.number, &p);
}

void domain::remove(port& p) noexcept {
    const std::lock_guard locked(mutex_);
    if (ports_.erase(p.number) == 0) return;
    for (auto at = records_.begin(); at != records_.end();) {
        if (at->first.first != p.number) {
            ++at;
            continue;
        }
        record& r = at->second;
        const base::identity remote = at->first.second;
        if (r.via != nullptr) {
            if (r.state == record::opened) send(*r.via, about(wire::contact_kind::close, p.identity(), remote), {});
        } else if (const auto other = ports_.find(number_part(remote));
                   domain_part(remote) == identity_ && other != ports_.end()) {
            if (record* const twin = find(other->first, p.identity());
                twin != nullptr && twin->state == record::opened) {
                try {
                    other->second->deliver(twin->peer, nullptr);
                } catch (const std::exception&) {
                    log(0, "out of memory: an endpoint of this process is not told that its peer has closed");
                }
                records_.erase({other->first, p.identity()});
            }
        }
        at = records_.erase(at);
    }
}

domain::record* domain::find(std::uint32_t number, base::identity remote) noexcept {
    const auto at = records_.find({number, remote});
    return at == records_.end() ? nullptr : &at->second;
}

status domain::contact(port& p, std::uint64_t peer) noexcept {
    try {
        const std::lock_guard locked(mutex_);
        if (peer >= peers_.size()) return errc::invalid_argument;
        const base::identity remote = peers_[static_cast<std::size_t>(peer)];
        if (record* const r = find(p.number, remote); r != nullptr) {
            if (r->state != record::failed) return errc::try_again;  // under way, or waiting in the inbox
            const errc why = r->why;
            if (!r->told) {
                r->told = true;
                return why;
            }
            records_.erase({p.number, remote});
        }
        const status s =
            domain_part(remote) == identity_ ? start_local_contact(p, peer, remote) : start_contact(p, peer, remote);
        return s.ok() ? errc::try_again : s;
    } catch (const std::exception&) {
        return errc::no_memory;
    }
}

std::string domain::why_not(port& p, std::uint64_t peer) const {
    const std::lock_guard locked(mutex_);
    if (peer >= peers_.size()) return {};
    const auto at = records_.find({p.number, peers_[static_cast<std::size_t>(peer)]});
    return at != records_.end() && at->second.state == record::failed ? at->second.text : std::string{};
}

void domain::progress(bool urgent) noexcept {
    const std::unique_lock locked(mutex_, std::try_to_lock);
    if (!locked) return;
    const std::uint64_t now = base::now_ns();
    // Many endpoints of one domain look at the same sockets: once per half period is enough for all of them.
    if (!urgent && now - last_progress_ns_ < options_.contact_period_ns / 2) return;
    last_progress_ns_ = now;
    os::ready_event room[32];
    for (const os::ready_event& e : epoll_.wait(room, 0)) {
        try {
            if (e.key == 0)
                accept_links();
            else
                read_link(e.key);
        } catch (const std::exception&) {
            log(0, "out of memory while talking to a peer; the connection is dropped");
            drop_link(e.key, "out of memory");
        }
    }
}

}  // namespace weft::shm
