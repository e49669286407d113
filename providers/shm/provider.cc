// The shm provider: probe, offers and refusals, opening domains, queues and endpoints.
#include <weft/plugin.h>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <weft/capabilities.hpp>
#include <weft/result.hpp>
#include <weft/spi/traits.hpp>
#include "shm/domain.hpp"
#include "shm/endpoint.hpp"
#include "shm/limits.hpp"

namespace weft::shm {
namespace {

constexpr capset abilities = caps::msg | caps::tagged;

// ---- settings -------------------------------------------------------------------------------------------------

constexpr weft_setting settings[] = {
    {"shm_copy", WEFT_SETTING_CHOICE, "auto", "auto|pipeline|cma",
     "How large messages are copied: auto measures and takes the faster way, pipeline copies through shared memory, "
     "cma "
     "pulls with process_vm_readv where the kernel allows it."},
    {"shm_eager_max", WEFT_SETTING_SIZE, "16K", "256..64K",
     "Messages up to this many bytes are buffered at once; larger ones wait for the receive (rendezvous)."},
    {"shm_unexpected_max", WEFT_SETTING_SIZE, "64M", "64K..64G",
     "Bytes of messages without a receive that an endpoint keeps; beyond it senders see try_again."},
    {"shm_contact_period", WEFT_SETTING_COUNT, "100", "10..1000000",
     "Microseconds between two looks of a polling thread at the contact sockets, by which new peers and the death of "
     "peers are noticed; a look costs about 300 ns."},
    {"shm_directory", WEFT_SETTING_TEXT, "", "",
     "Directory for contact sockets, for peers in other network namespaces; empty uses the abstract namespace, which "
     "leaves no file."},
    {"shm_peers", WEFT_SETTING_CHOICE, "same_user", "same_user|any_user",
     "Whose processes may make contact: those of the same user, or anybody's."},
};

std::string_view setting(weft_host* host, const char* name) {
    const char* const value = host->ops->setting(host, name);
    return value != nullptr ? value : "";
}
// The core has checked form and range and renders sizes as plain numbers.
std::uint64_t number_setting(weft_host* host, const char* name) {
    return std::strtoull(std::string(setting(host, name)).c_str(), nullptr, 10);
}

options read_options(weft_host* host) {
    options o;
    const std::string_view copy = setting(host, "shm_copy");
    o.copy = copy == "pipeline" ? copy_mode::pipeline : copy == "cma" ? copy_mode::cross_memory : copy_mode::automatic;
    o.eager_max = static_cast<std::uint32_t>(number_setting(host, "shm_eager_max"));
    o.unexpected_bytes = number_setting(host, "shm_unexpected_max");
    o.directory = setting(host, "shm_directory");
    o.contact_period_ns = number_setting(host, "shm_contact_period") * 1000;
    o.any_user = setting(host, "shm_peers") == "any_user";
    return o;
}

// ---- failures across the boundary -----------------------------------------------------------------------------

weft_status fill(weft_failure* to, const failure& f) noexcept {
    to->code = static_cast<std::int32_t>(f.code);
    to->native = f.native;
    std::snprintf(to->text, sizeof to->text, "%s%s", f.text.starts_with("shm: ") ? "" : "shm: ", f.text.c_str());
    return to->code;
}
weft_status out_of_memory(weft_failure* to) noexcept {
    to->code = static_cast<std::int32_t>(errc::no_memory);
    std::snprintf(to->text, sizeof to->text, "shm: out of memory; raise RLIMIT_AS or free memory");
    return to->code;
}

std::shared_ptr<domain> of(weft_domain* d) noexcept;

// ---- discovery ------------------------------------------------------------------------------------------------

struct requirement {
    bool met;
    const char* property;
    std::string wanted, offered, remedy;
};

std::string bytes(std::uint64_t n) { return std::to_string(n) + " bytes"; }

// The first requirement that is not met, in the order in which a reader would ask.
bool refuse_first(const weft_needs& n, std::uint64_t eager_max, weft_sink* sink) {
    const requirement all[] = {
        {(n.capabilities & ~abilities.bits) == 0, "capabilities",
         (n.capabilities & (caps::rma | caps::atomics).bits) != 0 ? "one-sided access (rma or atomics)"
                                                                  : "an unknown ability",
         "msg, tagged", "ask for msg and tagged only, or choose a provider that offers the rest"},
        {n.autonomous == 0, "progress", "autonomous", "by_caller",
         "poll the completion queue regularly and leave needs::advance at progress::by_caller"},
        {n.wait_fd == 0, "wait_fd", "a descriptor to wait on", "polling only", "poll, and leave needs::wait_fd false"},
        {n.message_size_min <= limits::message_max, "message size", "at least " + bytes(n.message_size_min),
         bytes(limits::message_max), "lower needs::message_size_min or split the message"},
        {n.inject_size_min <= eager_max, "inject size", "at least " + bytes(n.inject_size_min), bytes(eager_max),
         n.inject_size_min <= limits::eager_max_limit
             ? "raise the setting shm_eager_max (WEFT_SHM_EAGER_MAX) to " + std::to_string(n.inject_size_min)
             : "lower needs::inject_size_min or use send, which keeps the buffer until its completion"},
        {n.posted_receives_min <= limits::posted_receives_max, "posted receives",
         "at least " + std::to_string(n.posted_receives_min), std::to_string(limits::posted_receives_max),
         "lower needs::posted_receives_min"},
        {n.iov_count_min <= limits::iov_max, "pieces per vectored call (iov)",
         "at least " + std::to_string(n.iov_count_min), std::to_string(limits::iov_max), "lower needs::iov_count_min"},
    };
    for (const requirement& r : all) {
        if (r.met) continue;
        const weft_refusal refusal{sizeof(weft_refusal), "shm",           "local", r.property, r.wanted.c_str(),
                                   r.offered.c_str(),    r.remedy.c_str()};
        sink->refuse(sink, &refusal);
        return true;
    }
    return false;
}

void probe(weft_provider*, weft_host* host, const weft_needs* needs, weft_sink* sink) {
    const std::uint64_t eager_max = number_setting(host, "shm_eager_max");
    if (refuse_first(*needs, eager_max, sink)) return;
    const std::string details =
        "copy=" + std::string(setting(host, "shm_copy")) + "\nring_slots=" + std::to_string(limits::ring_slots) +
        "\nbulk_bytes=" + std::to_string(limits::bulk_bytes) + "\nsegment_max=" + std::to_string(limits::segment_max) +
        "\nunexpected_max=" + std::to_string(number_setting(host, "shm_unexpected_max")) +
        "\nmemory_per_active_peer=" + std::to_string(sizeof(region)) + " (touched as used)";
    weft_offer o{};
    o.size = sizeof o;
    o.provider = "shm";
    o.device = "local";
    o.reach = "this host";
    o.why = "shared memory is the shortest way to a process on the same host";
    o.capabilities = abilities.bits;
    o.rank = 0;
    o.inline_max = limits::inline_max;
    o.eager_max = eager_max;
    o.message_size_max = limits::message_max;
    o.inject_size_max = eager_max;
    o.posted_receives_max = limits::posted_receives_max;
    o.iov_count_max = limits::iov_max;
    o.details = details.c_str();
    sink->offer(sink, &o);
}

// ---- domain ---------------------------------------------------------------------------------------------------

// What the handle points to: keeps the domain alive, as queues and endpoints do.
struct domain_handle final : weft_domain {
    std::shared_ptr<domain> real;
};

std::shared_ptr<domain> of(weft_domain* d) noexcept { return static_cast<domain_handle*>(d)->real; }

spi::traits traits_of(bool any_thread, std::uint32_t format) noexcept {
    return {any_thread, static_cast<spi::entry_format>(format)};
}

weft_queue* open_queue(weft_domain* d, const weft_queue_params* p, weft_failure* f) noexcept {
    if (p->format > WEFT_ENTRY_TAGGED) {
        fill(f, {errc::invalid_argument, 0, "shm: unknown entry format " + std::to_string(p->format)});
        return nullptr;
    }
    if (p->depth == 0 || p->depth > limits::queue_depth_max) {
        fill(f, {errc::invalid_argument, 0,
                 "shm: a queue of " + std::to_string(p->depth) +
                     " entries was wanted; queue_options::depth goes from 1 to " +
                     std::to_string(limits::queue_depth_max)});
        return nullptr;
    }
    protocol::queue_base* const q = make_queue(traits_of(p->any_thread != 0, p->format), p->depth);
    if (q == nullptr) {
        out_of_memory(f);
        return nullptr;
    }
    q->keeps = of(d);
    return q;
}

std::size_t size_of_endpoint(weft_domain*, const weft_needs*, std::size_t* alignment) noexcept {
    return endpoint_size(*alignment);
}

weft_endpoint* open_endpoint(weft_domain* d, const weft_needs* n, weft_queue* q, void* storage, const void** face,
                             weft_failure* f) noexcept {
    if (q == nullptr) {
        fill(f, {errc::invalid_argument, 0,
                 "shm: an endpoint needs a completion queue; open one with domain::open_queue"});
        return nullptr;
    }
    auto* const queue = static_cast<protocol::queue_base*>(q);
    const std::shared_ptr<domain> owner = of(d);
    if (queue->keeps != owner) {
        fill(f, {errc::invalid_argument, 0,
                 "shm: the completion queue belongs to another domain; open one in this domain"});
        return nullptr;
    }
    const spi::traits of_queue = queue->traits();
    if (n->any_thread != 0 && !of_queue.locked) {
        fill(f, {errc::invalid_argument, 0,
                 "shm: the endpoint is for any thread but its completion queue is for one; open the queue with "
                 "queue_options::threads = any_thread"});
        return nullptr;
    }
    struct collector : weft_sink {
        std::string text;
    } refused;
    refused.offer = nullptr;
    refused.refuse = [](weft_sink* self, const weft_refusal* why) {
        static_cast<collector*>(self)->text = std::string("shm: ") + why->property + ": wanted " + why->wanted +
                                              ", offered " + why->offered + "; " + why->remedy;
    };
    if (refuse_first(*n, owner->settings().eager_max, &refused)) {
        fill(f, {errc::no_offer, 0, refused.text});
        return nullptr;
    }
    endpoint_request r;
    r.owner = owner;
    r.want = of_queue;  // one lock serves the queue and its endpoints, so they share its properties
    r.queue = queue;
    r.limits = {std::max<std::uint64_t>(n->posted_receives_min, 1), owner->settings().unexpected_bytes,
                limits::rendezvous_max, owner->settings().contact_period_ns};
    r.storage = storage;
    spi::traits chosen{};
    weft_endpoint* const e = make_endpoint(r, face, chosen, *f);
    if (e != nullptr)
        owner->log(3, std::string("endpoint opened with code for ") + (chosen.locked ? "any thread" : "one thread") +
                          ", completions as " + spi::format_name(chosen.format) +
                          (chosen == r.want ? " (exact)" : " (leanest that serves)"));
    return e;
}

weft_status resolve(weft_domain* d, const char* text, std::size_t length, std::uint64_t* peer,
                    weft_failure* f) noexcept {
    auto r = of(d)->resolve({text, length});
    if (!r) return fill(f, r.error());
    *peer = *r;
    return 0;
}

weft_status insert(weft_domain* d, const void* address, std::size_t size, std::uint64_t* peer,
                   weft_failure* f) noexcept {
    base::identity id;
    if (size != sizeof id)
        return fill(f, {errc::bad_address, 0,
                        "shm: an address has " + std::to_string(sizeof id) + " bytes, not " + std::to_string(size) +
                            "; use those of endpoint::address()"});
    std::memcpy(&id, address, sizeof id);
    auto r = of(d)->insert(id);
    if (!r) return fill(f, r.error());
    *peer = *r;
    return 0;
}

weft_status peer_text(weft_domain* d, std::uint64_t peer, char* text, std::size_t room) noexcept {
    const auto id = of(d)->peer(peer);
    if (!id) return static_cast<weft_status>(errc::invalid_argument);
    std::snprintf(text, room, "shm://%s", base::to_text(*id).c_str());
    return 0;
}

constexpr weft_domain_ops domain_ops = {sizeof(weft_domain_ops),
                                        open_queue,
                                        size_of_endpoint,
                                        open_endpoint,
                                        resolve,
                                        insert,
                                        peer_text,
                                        [](weft_domain* d) { delete static_cast<domain_handle*>(d); }};

weft_domain* open_domain(weft_provider*, weft_host* host, const char*, const weft_needs*, weft_failure* f) noexcept {
    try {
        auto d = domain::open(host, read_options(host));
        if (!d) {
            fill(f, d.error());
            return nullptr;
        }
        auto handle = std::make_unique<domain_handle>();
        handle->ops = &domain_ops;
        handle->real = *std::move(d);
        return handle.release();
    } catch (const std::exception&) {
        out_of_memory(f);
        return nullptr;
    }
}

constexpr weft_provider_ops provider_ops = {sizeof(weft_provider_ops), probe, open_domain};

}  // namespace
}  // namespace weft::shm

extern "C" weft_provider weft_provider_shm;
weft_provider weft_provider_shm = {&weft::shm::provider_ops, "shm", "shared memory between processes of one host",
                                   weft::shm::settings, std::size(weft::shm::settings)};
