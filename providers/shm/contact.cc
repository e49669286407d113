// Contact between domains: who connects, what is checked, what is answered.
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cstring>
#include "os/memfd.hpp"
#include "shm/channel.hpp"
#include "shm/domain.hpp"
#include "shm/link.hpp"
#include "shm/port.hpp"

namespace weft::shm {
namespace {

struct shared_region {
    os::descriptor file;
    std::shared_ptr<os::mapping> memory;
};

result<shared_region> make_region() {
    auto file = os::create_memfd("weft-shm", sizeof(region));
    if (!file) return std::move(file).error();
    auto memory = os::mapping::shared(*file, sizeof(region), os::protection::read_write);
    if (!memory) return std::move(memory).error();
    return shared_region{*std::move(file), std::make_shared<os::mapping>(*std::move(memory))};
}

region& region_in(const os::mapping& m) noexcept {
    return *reinterpret_cast<region*>(m.data());  // zeroes are a valid empty region
}

errc code_of(wire::contact_reason r) noexcept {
    switch (r) {
        case wire::contact_reason::version:
        case wire::contact_reason::geometry: return errc::version_mismatch;
        case wire::contact_reason::permission: return errc::permission_denied;
        case wire::contact_reason::memory: return errc::no_memory;
        case wire::contact_reason::descriptors: return errc::no_descriptors;
        case wire::contact_reason::malformed: return errc::protocol_error;
        case wire::contact_reason::no_endpoint:
        case wire::contact_reason::none: break;
    }
    return errc::peer_unreachable;
}

// A datagram's content, for people.
const char* fault_text(wire::contact_fault f) noexcept {
    switch (f) {
        case wire::contact_fault::none: break;
        case wire::contact_fault::size: return "a datagram of the wrong size";
        case wire::contact_fault::magic: return "something that is not weft's";
        case wire::contact_fault::version: return "another version of the protocol";
        case wire::contact_fault::kind: return "an unknown kind of datagram";
        case wire::contact_fault::identity: return "an empty identity";
        case wire::contact_fault::reason: return "a contradictory reason";
        case wire::contact_fault::text: return "an unterminated text";
    }
    return "nonsense";
}

}  // namespace

wire::contact domain::about(wire::contact_kind kind, base::identity from, base::identity to) const {
    wire::contact c;
    c.kind = kind;
    c.from = from;
    c.to = to;
    c.region_size = sizeof(region);
    c.probe_address = reinterpret_cast<std::uint64_t>(&probe_value_);
    c.probe_value = probe_value_;
    c.ring_slots = limits::ring_slots;
    c.eager_bytes = limits::eager_bytes;
    c.bulk_bytes = limits::bulk_bytes;
    return c;
}

// ---- starting -------------------------------------------------------------------------------------------------

status domain::start_local_contact(port& p, std::uint64_t peer, base::identity remote) {
    const auto other = ports_.find(number_part(remote));
    if (other == ports_.end()) return errc::peer_unreachable;
    auto made = make_region();
    if (!made) {
        log(0, made.error().text);
        return made.error().code;
    }
    // A pull within the process goes through the kernel too: the other thread may unmap its buffer at any time.
    const auto choice = std::make_shared<copy_choice>(options_.copy, ::getpid(),
                                                      reinterpret_cast<std::uint64_t>(&probe_value_), probe_value_);
    region& r = region_in(*made->memory);
    const auto open_side = [&](port& side, base::identity far, std::uint64_t index, direction& mine,
                               direction& theirs) {
        auto ch = std::make_unique<channel>();
        ch->peer = index;
        ch->attach(made->memory, mine, theirs, choice);
        record& rec = records_[{side.number, far}];
        rec.state = record::opened;
        rec.peer = index;
        side.deliver(index, std::move(ch));
    };
    if (other->second == &p) {
        open_side(p, remote, peer, r.to_acceptor, r.to_acceptor);
        return {};
    }
    const std::uint64_t back = insert_locked(p.identity());
    open_side(p, remote, peer, r.to_acceptor, r.to_initiator);
    open_side(*other->second, p.identity(), back, r.to_initiator, r.to_acceptor);
    return {};
}

status domain::start_contact(port& p, std::uint64_t peer, base::identity remote) {
    record& rec = records_[{p.number, remote}];
    rec = {};
    rec.peer = peer;
    // An attempt that fails at once is told at once, and the next call tries again.
    const auto give_up = [&](const failure& f) {
        fail(rec, f.code, f.text);
        rec.told = true;
        return status{f.code};
    };
    auto way = link_to(domain_part(remote));
    if (!way) {
        if (way.error().code == errc::try_again) {
            records_.erase({p.number, remote});
            return errc::try_again;
        }
        return give_up(way.error());
    }
    auto made = make_region();
    if (!made) return give_up(made.error());
    rec.via = *way;
    rec.memory = made->memory;
    p.count_waiting(1);
    send(**way, about(wire::contact_kind::open, p.identity(), remote), std::move(made->file));
    return {};
}

result<domain::link*> domain::link_to(base::identity remote_domain) {
    for (auto& [key, l] : links_)
        if (l->remote == remote_domain) return l.get();
    auto socket = os::connect_to(socket_name_of(remote_domain));
    if (!socket) {
        failure f = std::move(socket).error();
        if (f.code == errc::peer_unreachable)
            f.text =
                "nobody answers at " + os::to_text(socket_name_of(remote_domain)) +
                ": the peer has not opened its domain yet, has ended, or lives in another network namespace; start "
                "it, or set shm_directory to a directory that both see";
        return f;
    }
    return add_link(*std::move(socket), remote_domain);
}

result<domain::link*> domain::add_link(os::connection socket, base::identity remote_domain) {
    auto who = socket.credentials();
    if (!who) return std::move(who).error();
    auto l = std::make_unique<link>();
    l->key = next_link_++;
    l->remote = remote_domain;
    l->credentials = *who;
    l->socket = std::move(socket);
    l->forbidden = !options_.any_user && who->uid != ::geteuid();
    if (l->forbidden && remote_domain) {  // we are the one who connects
        return failure{errc::permission_denied, 0,
                       "the peer runs as user " + std::to_string(who->uid) + " and this process as " +
                           std::to_string(::geteuid()) +
                           "; run both as one user, or set shm_peers=any_user on both sides if you trust it"};
    }
    if (auto added = epoll_.add(l->socket.file(), os::ready::readable, l->key); !added) return added.error();
    link* const made = l.get();
    links_.emplace(made->key, std::move(l));
    return made;
}

void domain::accept_links() {
    for (;;) {
        auto socket = listener_.accept();
        if (!socket) {
            // Readiness stays on while descriptors are short: the next period tries again, others are not affected.
            if (socket.error().code != errc::try_again) log(1, socket.error().text);
            return;
        }
        if (auto added = add_link(*std::move(socket), {}); !added) log(1, added.error().text);
    }
}

// ---- datagrams ------------------------------------------------------------------------------------------------

void domain::send(link& l, const wire::contact& c, os::descriptor memory) {
    l.outbox.emplace_back(c, std::move(memory));
    (void)write_link(l);
}

// False when the socket is full; it is then watched for room.
bool domain::write_link(link& l) {
    while (!l.outbox.empty()) {
        auto& [c, memory] = l.outbox.front();
        const auto bytes = wire::encode(c);
        const int number = memory.get();
        const auto sent = l.socket.send(bytes, memory ? std::span(&number, 1) : std::span<const int>{});
        if (!sent) {
            if (sent.error().code != errc::try_again && sent.error().code != errc::no_descriptors) {
                l.outbox.clear();  // it is gone: reading will tell
                return true;
            }
            (void)epoll_.modify(l.socket.file(), os::ready::readable | os::ready::writable, l.key);
            return false;
        }
        l.outbox.pop_front();
    }
    return true;
}

void domain::read_link(std::uint64_t key) {
    const auto at = links_.find(key);
    if (at == links_.end()) return;
    link& l = *at->second;
    if (!l.outbox.empty() && write_link(l)) (void)epoll_.modify(l.socket.file(), os::ready::readable, l.key);
    // A bound on what one peer may say before the others' turn.
    for (int left = 64; left > 0; --left) {
        std::array<std::byte, wire::contact_size + 1> room;
        auto got = l.socket.receive(room);
        if (!got) {
            if (got.error().code == errc::try_again) return;
            return drop_link(key, got.error().code == errc::peer_gone ? nullptr : got.error().text.c_str());
        }
        const wire::decoded_contact d = wire::decode(std::span(room).first(got->size));
        if (d.fault == wire::contact_fault::version && d.value.kind == wire::contact_kind::refuse) {
            // Our version was refused; the text that says so is in a layout that we need not know.
            record* const r = find(number_part(d.value.from), d.value.to);
            if (domain_part(d.value.from) == identity_ && r != nullptr && r->state == record::connecting &&
                r->via == &l)
                fail(*r, errc::version_mismatch,
                     "the peer speaks shm protocol " + std::to_string(d.value.version) + ", this process " +
                         std::to_string(wire::contact_version) + "; install the same weft version on both sides");
            continue;
        }
        if (d.fault == wire::contact_fault::version) {
            log(1, "a process of user " + std::to_string(l.credentials.uid) + " speaks shm protocol " +
                       std::to_string(d.value.version) + ", this one " + std::to_string(wire::contact_version) +
                       ": install the same weft version on both sides");
            if (d.value.kind != wire::contact_kind::open) continue;
            refuse(l, d.value, wire::contact_reason::version,
                   "speaks shm protocol " + std::to_string(wire::contact_version) + ", not " +
                       std::to_string(d.value.version) + ": install the same weft version on both sides");
            if (!links_.contains(key)) return;
            continue;
        }
        if (d.fault != wire::contact_fault::none) {
            log(1, "a process of user " + std::to_string(l.credentials.uid) + " sent " + fault_text(d.fault) +
                       " to the contact socket; the connection is closed");
            return drop_link(key, nullptr);
        }
        handle(l, d.value, *got);
        if (!links_.contains(key)) return;
    }
}

void domain::drop_link(std::uint64_t key, const char* why) {
    const auto at = links_.find(key);
    if (at == links_.end()) return;
    link& l = *at->second;
    if (why != nullptr) log(1, std::string("the connection to a peer is closed: ") + why);
    for (auto it = records_.begin(); it != records_.end();) {
        record& r = it->second;
        const auto owner = ports_.find(it->first.first);
        if (r.via != &l || owner == ports_.end()) {
            ++it;
            continue;
        }
        if (r.state == record::opened) {
            owner->second->deliver(r.peer, nullptr);
            it = records_.erase(it);
        } else {
            if (r.state == record::connecting)
                fail(r, errc::peer_unreachable, "the peer ended or closed the connection before it answered");
            r.via = nullptr;
            ++it;
        }
    }
    epoll_.remove(l.socket.file());
    links_.erase(at);
}

// ---- answers --------------------------------------------------------------------------------------------------

void domain::handle(link& l, const wire::contact& c, os::datagram& d) {
    switch (c.kind) {
        case wire::contact_kind::open: return handle_open(l, c, d);
        case wire::contact_kind::accept: return handle_accept(l, c);
        case wire::contact_kind::refuse: return handle_refuse(l, c);
        case wire::contact_kind::close: return handle_close(l, c);
    }
}

void domain::refuse(link& l, const wire::contact& opened, wire::contact_reason reason, const std::string& text) {
    wire::contact refusal = about(wire::contact_kind::refuse, opened.from, opened.to);
    refusal.reason = reason;
    refusal.set_text(text);
    answer(l, refusal);
}

// May end the link.
void domain::answer(link& l, const wire::contact& c) {
    if (l.outbox.size() >= limits::unread_max)
        return drop_link(l.key, "it asks again and again and does not read the answers");
    send(l, c, {});
}

// Takes from a peer's datagram what concerns all its endpoints.
void domain::learn(link& l, const wire::contact& c) {
    if (!l.choice)
        l.choice = std::make_shared<copy_choice>(options_.copy, l.credentials.pid, c.probe_address, c.probe_value);
}

void domain::handle_open(link& l, const wire::contact& c, os::datagram& d) {
    if (l.forbidden)
        return refuse(l, c, wire::contact_reason::permission,
                      "runs as user " + std::to_string(::geteuid()) + " and takes no contact from user " +
                          std::to_string(l.credentials.uid) +
                          "; run both as one user, or set shm_peers=any_user there");
    if (!l.remote && domain_part(c.from) != identity_) l.remote = domain_part(c.from);
    if (l.remote != domain_part(c.from) || number_part(c.from) == 0)
        return refuse(l, c, wire::contact_reason::malformed,
                      "the endpoint does not belong to the domain at this socket");
    const auto target = ports_.find(number_part(c.to));
    if (domain_part(c.to) != identity_ || target == ports_.end())
        return refuse(l, c, wire::contact_reason::no_endpoint, "there is no endpoint of that address (any more)");
    if (c.region_size != sizeof(region) || c.ring_slots != limits::ring_slots || c.eager_bytes != limits::eager_bytes ||
        c.bulk_bytes != limits::bulk_bytes)
        return refuse(l, c, wire::contact_reason::geometry,
                      "its rings have another size: install the same weft version on both sides");
    if (d.descriptors_lost) {
        const std::string text =
            "has no descriptor left for the shared memory (RLIMIT_NOFILE): raise its limit (ulimit -n) or close files";
        log(1, "a contact is refused: this process " + text);
        return refuse(l, c, wire::contact_reason::descriptors, text);
    }
    if (d.descriptor_count != 1)
        return refuse(l, c, wire::contact_reason::malformed, "an open comes with exactly one descriptor");
    port& p = *target->second;

    record* existing = find(p.number, c.from);
    if (existing != nullptr && existing->state == record::opened)
        return refuse(l, c, wire::contact_reason::malformed, "these two endpoints have a channel already");
    // Both sides opened at once: the open of the smaller identity counts, the other one is not answered.
    if (existing != nullptr && existing->state == record::connecting && p.identity() < c.from) return;

    if (auto sealed = os::check_sealed(d.descriptors[0], sizeof(region)); !sealed)
        return refuse(l, c, wire::contact_reason::malformed, sealed.error().text);
    auto memory = os::mapping::shared(d.descriptors[0], sizeof(region), os::protection::read_write);
    if (!memory) {
        log(1, memory.error().text);
        return refuse(l, c, wire::contact_reason::memory, memory.error().text);
    }
    learn(l, c);
    const std::uint64_t peer = insert_locked(c.from);
    if (existing != nullptr && existing->state == record::connecting) p.count_waiting(-1);
    record& r = records_[{p.number, c.from}];
    r = {};
    r.peer = peer;
    r.via = &l;
    auto shared = std::make_shared<os::mapping>(*std::move(memory));
    auto ch = std::make_unique<channel>();
    ch->peer = peer;
    ch->attach(shared, region_in(*shared).to_initiator, region_in(*shared).to_acceptor, l.choice);
    r.state = record::opened;
    p.deliver(peer, std::move(ch));
    answer(l, about(wire::contact_kind::accept, c.from, c.to));
}

void domain::handle_accept(link& l, const wire::contact& c) {
    record* const r = find(number_part(c.from), c.to);
    if (domain_part(c.from) != identity_ || r == nullptr || r->state != record::connecting || r->via != &l) {
        // The endpoint has been closed meanwhile: the peer must not wait for it.
        if (domain_part(c.from) == identity_) answer(l, about(wire::contact_kind::close, c.from, c.to));
        return;
    }
    port& p = *ports_.at(number_part(c.from));
    learn(l, c);
    auto ch = std::make_unique<channel>();
    ch->peer = r->peer;
    ch->attach(r->memory, region_in(*r->memory).to_acceptor, region_in(*r->memory).to_initiator, l.choice);
    r->memory.reset();
    r->state = record::opened;
    p.count_waiting(-1);
    p.deliver(r->peer, std::move(ch));
}

void domain::handle_refuse(link& l, const wire::contact& c) {
    record* const r = find(number_part(c.from), c.to);
    if (domain_part(c.from) != identity_ || r == nullptr || r->state != record::connecting || r->via != &l) return;
    fail(*r, code_of(c.reason), "the peer refuses contact: it " + std::string(c.reason_text()));
}

void domain::fail(record& r, errc why, std::string text) {
    if (r.state == record::connecting && r.memory) {
        const auto at = std::find_if(records_.begin(), records_.end(), [&](auto& e) { return &e.second == &r; });
        if (const auto owner = ports_.find(at->first.first); owner != ports_.end()) owner->second->count_waiting(-1);
    }
    log(3, text);  // the caller is told; this is for those who look for more
    r.state = record::failed;
    r.memory.reset();
    r.why = why;
    r.told = false;
    r.text = std::move(text);
}

void domain::handle_close(link& l, const wire::contact& c) {
    record* const r = find(number_part(c.to), c.from);
    if (domain_part(c.to) != identity_ || r == nullptr || r->via != &l) return;
    if (r->state != record::opened) return;
    ports_.at(number_part(c.to))->deliver(r->peer, nullptr);
    records_.erase({number_part(c.to), c.from});
}

}  // namespace weft::shm
