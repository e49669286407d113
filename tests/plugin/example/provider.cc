#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <string_view>

#include "loop.hpp"

namespace loop {
namespace {

constexpr std::string_view scheme = "loop://";
constexpr std::uint32_t capabilities = 3;  // weft::caps::msg | weft::caps::tagged

void fail(weft_failure* why, errc code, const std::string& text) noexcept {
    why->code = static_cast<std::int32_t>(code);
    std::snprintf(why->text, sizeof why->text, "loop: %s", text.c_str());
}

weft_status fail_with(weft_failure* why, errc code, const std::string& text) noexcept {
    fail(why, code, text);
    return static_cast<weft_status>(code);
}

std::uint64_t number_setting(weft_host* host, const char* name) noexcept {
    return std::strtoull(host->ops->setting(host, name), nullptr, 10);  // declared below, so never null nor malformed
}

// ---- queue

constexpr weft_queue_ops queue_table = {
    sizeof(weft_queue_ops),
    [](weft_queue* q, void* entries, std::size_t room_there) noexcept -> std::size_t {
        auto& self = *static_cast<queue*>(q);
        const std::lock_guard guard(self.where->lock);
        auto& waiting = self.done->entries;
        std::size_t size = sizeof(weft::entry::tagged);  // the leaner formats are its first part
        if (self.done->format == WEFT_ENTRY_TOKENS) size = sizeof(weft::entry::tokens);
        if (self.done->format == WEFT_ENTRY_MESSAGE) size = sizeof(weft::entry::message);
        std::size_t n = 0;
        for (; n < room_there && !waiting.empty(); ++n) {
            std::memcpy(static_cast<std::byte*>(entries) + n * size, static_cast<const void*>(&waiting.front()), size);
            waiting.pop_front();
        }
        return n;
    },
    [](weft_queue* q) noexcept { delete static_cast<queue*>(q); },
};

// ---- domain

struct domain final : weft_domain {
    explicit domain(std::shared_ptr<room> r);
    std::shared_ptr<room> where;
};

room& room_of(weft_domain* d) noexcept { return *static_cast<domain*>(d)->where; }

weft_queue* open_queue(weft_domain* d, const weft_queue_params* params, weft_failure* why) noexcept try {
    return new queue(static_cast<domain*>(d)->where, *params);
} catch (...) {
    fail(why, errc::no_memory, "no memory for a completion queue");
    return nullptr;
}

std::size_t endpoint_size(weft_domain*, const weft_needs*, std::size_t* alignment) noexcept {
    *alignment = alignof(endpoint);
    return sizeof(endpoint);
}

weft_endpoint* open_endpoint(weft_domain* d, const weft_needs* needs, weft_queue* q, void* storage, const void** face,
                             weft_failure* why) noexcept try {
    if (face != nullptr) *face = nullptr;
    if ((needs->capabilities & ~capabilities) != 0) {
        fail(why, errc::not_supported, "only msg and tagged endpoints can be opened");
        return nullptr;
    }
    auto& done = static_cast<queue*>(q)->done;
    const auto& where = static_cast<domain*>(d)->where;
    if (storage != nullptr) return new (storage) endpoint(where, done, needs->capabilities, true);
    return new endpoint(where, done, needs->capabilities, false);
} catch (...) {
    fail(why, errc::no_memory, "no memory for an endpoint");
    return nullptr;
}

weft_status resolve(weft_domain* d, const char* text, std::size_t length, std::uint64_t* peer,
                    weft_failure* why) noexcept try {
    const std::string_view address(text, length);
    std::uint64_t number = 0;
    if (address.substr(0, scheme.size()) == scheme) {
        const char* const end = text + length;
        const auto parsed = std::from_chars(text + scheme.size(), end, number);
        if (parsed.ptr != end || parsed.ec != std::errc{}) number = 0;
    }
    if (number == 0)
        return fail_with(why, errc::bad_address,
                         "'" + std::string(address) + "' is not an address; they look like loop://1");
    const std::lock_guard guard(room_of(d).lock);
    *peer = room_of(d).enter(number);
    return 0;
} catch (...) {
    return fail_with(why, errc::no_memory, "no memory for an address");
}

weft_status insert(weft_domain* d, const void* bytes, std::size_t size, std::uint64_t* peer, weft_failure* why) noexcept
    try {
    std::uint64_t number = 0;
    if (size == sizeof number) std::memcpy(&number, bytes, sizeof number);
    if (number == 0) return fail_with(why, errc::bad_address, "an address has 8 bytes that are not all zero");
    const std::lock_guard guard(room_of(d).lock);
    *peer = room_of(d).enter(number);
    return 0;
} catch (...) {
    return fail_with(why, errc::no_memory, "no memory for an address");
}

weft_status peer_text(weft_domain* d, std::uint64_t peer, char* text, std::size_t space) noexcept {
    const std::lock_guard guard(room_of(d).lock);
    if (peer >= room_of(d).peers.size()) return static_cast<weft_status>(errc::invalid_argument);
    std::snprintf(text, space, "loop://%" PRIu64, room_of(d).peers[peer]);
    return 0;
}

constexpr weft_domain_ops domain_table = {
    sizeof(weft_domain_ops),
    open_queue,
    endpoint_size,
    open_endpoint,
    resolve,
    insert,
    peer_text,
    [](weft_domain* d) noexcept { delete static_cast<domain*>(d); },
};

domain::domain(std::shared_ptr<room> r) : weft_domain{&domain_table}, where(std::move(r)) {}

// ---- provider

void refuse(weft_sink* sink, const char* property, const std::string& wanted, const std::string& offered,
            const char* remedy) {
    const weft_refusal r{sizeof r, "loop", "", property, wanted.c_str(), offered.c_str(), remedy};
    sink->refuse(sink, &r);
}

struct bound {
    const char* property;
    std::uint64_t wanted, offered;
    const char* remedy;
};

void probe(weft_provider*, weft_host* host, const weft_needs* needs, weft_sink* sink) noexcept {
    const std::uint64_t message_size_max = number_setting(host, "loop_message_size_max");
    if ((needs->capabilities & ~capabilities) != 0)
        return refuse(sink, "capabilities", "rma or atomics", "msg, tagged", "leave rma and atomics out");
    if (needs->wait_fd != 0)
        return refuse(sink, "wait_fd", "a descriptor", "none", "poll, and leave needs::wait_fd false");
    const bound bounds[] = {
        {"message size", needs->message_size_min, message_size_max, "raise loop_message_size_max"},
        {"inject size", needs->inject_size_min, inject_size_max, "lower needs::inject_size_min"},
        {"posted receives", needs->posted_receives_min, posted_receives_max, "lower needs::posted_receives_min"},
        {"pieces", needs->iov_count_min, iov_count_max, "lower needs::iov_count_min"},
    };
    for (const bound& b : bounds)
        if (b.wanted > b.offered)
            return refuse(sink, b.property, "at least " + std::to_string(b.wanted), std::to_string(b.offered),
                          b.remedy);
    weft_offer o{};
    o.size = sizeof o;
    o.provider = "loop";
    o.device = "";
    o.reach = "this domain";
    o.why = "an example, behind everything else";
    o.capabilities = capabilities;
    o.rank = 1000;
    o.inline_max = o.eager_max = o.message_size_max = message_size_max;
    o.inject_size_max = inject_size_max;
    o.posted_receives_max = posted_receives_max;
    o.iov_count_max = iov_count_max;
    o.details = "mechanism=copy\nunexpected=bounded";
    sink->offer(sink, &o);
}

weft_domain* open_domain(weft_provider*, weft_host* host, const char* device, const weft_needs*,
                         weft_failure* why) noexcept try {
    if (*device != '\0') {
        fail(why, errc::invalid_argument, "there is no device " + std::string(device) + "; the only one has no name");
        return nullptr;
    }
    return new domain(std::make_shared<room>(host, number_setting(host, "loop_message_size_max"),
                                             number_setting(host, "loop_unexpected_max")));
} catch (...) {
    fail(why, errc::no_memory, "no memory for a domain");
    return nullptr;
}

constexpr weft_provider_ops provider_table = {sizeof(weft_provider_ops), probe, open_domain};

constexpr weft_setting settings[] = {
    {"loop_message_size_max", WEFT_SETTING_SIZE, "16M", "64K..1G", "The largest message."},
    {"loop_unexpected_max", WEFT_SETTING_COUNT, "1024", "1..65536",
     "Messages kept per endpoint that no receive was posted for."},
};

}  // namespace

// Endpoints may outlive the domain's handle, so the host is kept as long as anything is there that may log.
room::room(weft_host* lender, std::uint64_t size_max, std::uint64_t kept_max)
    : message_size_max(size_max), unexpected_max(kept_max), host(lender) {
    host->ops->retain(host);
    if (host->ops->log_enabled(host, 2, "loop") != 0) host->ops->log(host, 2, "loop", "a domain was opened");
}

room::~room() { host->ops->release(host); }

std::uint64_t room::enter(std::uint64_t number) {
    for (std::size_t i = 0; i < peers.size(); ++i)
        if (peers[i] == number) return i;
    peers.push_back(number);
    return peers.size() - 1;
}

queue::queue(std::shared_ptr<room> r, const weft_queue_params& params) : weft_queue{&queue_table}, where(std::move(r)) {
    done->format = params.format;
    done->depth = params.depth;
}

}  // namespace loop

weft_provider weft_provider_loop = {&loop::provider_table, "loop", "inside one process (example)", loop::settings,
                                    std::size(loop::settings)};
