#include "core/tables.hpp"

#include <cstring>
#include <span>

namespace weft::core {
namespace {

struct member {
    const char* name;
    std::size_t offset;
};

// The last member named here ends version 1 of the table. These lists are frozen: what is appended to a table later
// may be absent and is not looked for here.
#define WEFT_MEMBER(ops, name) \
    member { #name, offsetof(ops, name) }

constexpr member provider_members[] = {
    WEFT_MEMBER(weft_provider_ops, probe),
    WEFT_MEMBER(weft_provider_ops, open_domain),
};
constexpr member domain_members[] = {
    WEFT_MEMBER(weft_domain_ops, open_queue),    WEFT_MEMBER(weft_domain_ops, endpoint_size),
    WEFT_MEMBER(weft_domain_ops, open_endpoint), WEFT_MEMBER(weft_domain_ops, resolve),
    WEFT_MEMBER(weft_domain_ops, insert),        WEFT_MEMBER(weft_domain_ops, peer_text),
    WEFT_MEMBER(weft_domain_ops, release),
};
constexpr member queue_members[] = {
    WEFT_MEMBER(weft_queue_ops, poll),
    WEFT_MEMBER(weft_queue_ops, release),
};
constexpr member endpoint_members[] = {
    WEFT_MEMBER(weft_endpoint_ops, send),     WEFT_MEMBER(weft_endpoint_ops, send_quiet),
    WEFT_MEMBER(weft_endpoint_ops, inject),   WEFT_MEMBER(weft_endpoint_ops, sendv),
    WEFT_MEMBER(weft_endpoint_ops, sendmsg),  WEFT_MEMBER(weft_endpoint_ops, recv),
    WEFT_MEMBER(weft_endpoint_ops, recvv),    WEFT_MEMBER(weft_endpoint_ops, recvmsg),
    WEFT_MEMBER(weft_endpoint_ops, tsend),    WEFT_MEMBER(weft_endpoint_ops, tsend_quiet),
    WEFT_MEMBER(weft_endpoint_ops, tinject),  WEFT_MEMBER(weft_endpoint_ops, tsendv),
    WEFT_MEMBER(weft_endpoint_ops, tsendmsg), WEFT_MEMBER(weft_endpoint_ops, trecv),
    WEFT_MEMBER(weft_endpoint_ops, trecvv),   WEFT_MEMBER(weft_endpoint_ops, trecvmsg),
    WEFT_MEMBER(weft_endpoint_ops, cancel),   WEFT_MEMBER(weft_endpoint_ops, address),
    WEFT_MEMBER(weft_endpoint_ops, path),     WEFT_MEMBER(weft_endpoint_ops, close),
    WEFT_MEMBER(weft_endpoint_ops, release),
};
#undef WEFT_MEMBER

// `ops` points to a table that starts with its size.
std::string fault(const void* ops, const char* type, std::span<const member> members) {
    const std::string table = "its table " + std::string(type);
    if (ops == nullptr) return table + " is null";
    std::size_t size = 0;
    std::memcpy(&size, ops, sizeof size);
    const std::size_t needed = members.back().offset + sizeof(void (*)());
    if (size < needed)
        return table + " has " + std::to_string(size) + " bytes, version 1 has " + std::to_string(needed);
    for (const member& m : members) {
        void (*function)() = nullptr;
        std::memcpy(&function, static_cast<const std::byte*>(ops) + m.offset, sizeof function);
        if (function == nullptr) return table + " has no function " + m.name;
    }
    return {};
}

}  // namespace

std::string fault_in(const weft_provider_ops* ops) { return fault(ops, "weft_provider_ops", provider_members); }
std::string fault_in(const weft_domain_ops* ops) { return fault(ops, "weft_domain_ops", domain_members); }
std::string fault_in(const weft_queue_ops* ops) { return fault(ops, "weft_queue_ops", queue_members); }
std::string fault_in(const weft_endpoint_ops* ops) { return fault(ops, "weft_endpoint_ops", endpoint_members); }

}  // namespace weft::core
