#include <weft/domain.hpp>

#include "core/complaints.hpp"
#include "core/convert.hpp"
#include "core/domain_state.hpp"
#include "core/limits.hpp"
#include "core/tables.hpp"

namespace weft {
namespace {

failure misuse(const std::string& provider, std::string text) {
    return {errc::invalid_argument, 0, provider + ": " + std::move(text)};
}

// An object whose table we cannot call; not even its release, so it is left alone.
failure bad_table(const std::string& provider, const std::string& fault) {
    return {errc::version_mismatch, 0, provider + ": the provider made an object that cannot be used: " + fault};
}

}  // namespace

result<weft_queue*> domain::open_queue_impl(std::uint32_t format, const queue_options& options) {
    const std::string& name = state_->what.provider;
    if (options.depth == 0)
        return misuse(name, "cannot open a completion queue of depth 0; queue_options::depth must be at least 1");
    using choice = queue_options::threads_choice;
    const bool any_thread = options.threads == choice::any_thread ||
                            (options.threads == choice::as_domain && state_->threads == threading::any_thread);
    const weft_queue_params params{sizeof params, format, any_thread ? 1u : 0u, options.depth};
    weft_failure why = core::empty_failure();
    weft_queue* queue = state_->impl->ops->open_queue(state_->impl, &params, &why);
    if (queue == nullptr) return core::from_c(why, 0, name, "open a completion queue");
    if (const std::string fault = core::fault_in(queue->ops); !fault.empty()) return bad_table(name, fault);
    return queue;
}

result<weft_endpoint*> domain::open_endpoint_impl(capset c, const needs& want, weft_queue* queue) {
    const std::string& name = state_->what.provider;
    if (c.empty())
        return misuse(name, "cannot open an endpoint without any capability; name at least one of weft::caps");
    if (queue == nullptr)
        return misuse(name, "cannot open an endpoint on an empty completion queue handle; open a queue first");
    if (!want.provider.empty() && want.provider != name)
        return misuse(name, "cannot open an endpoint that needs the provider " + core::quoted(want.provider) +
                                "; open a domain of that provider, or leave needs::provider empty");
    const weft_needs needed = core::to_c(c, want);
    weft_failure why = core::empty_failure();
    weft_endpoint* made = state_->impl->ops->open_endpoint(state_->impl, &needed, queue, nullptr, nullptr, &why);
    if (made == nullptr) return core::from_c(why, 0, name, "open an endpoint (" + core::text_of(c) + ")");
    if (const std::string fault = core::fault_in(made->ops); !fault.empty()) return bad_table(name, fault);
    return made;
}

result<peer> domain::resolve(std::string_view text) {
    const std::string& name = state_->what.provider;
    if (text.size() > core::limits::address_text_bytes)
        return failure{errc::bad_address, 0, name + ": " + core::quoted(text) + " is too long for an address"};
    std::uint64_t number = WEFT_ANY_PEER;
    weft_failure why = core::empty_failure();
    // Some providers look for the end themselves.
    const std::string terminated(text);
    const weft_status s = state_->impl->ops->resolve(state_->impl, terminated.c_str(), text.size(), &number, &why);
    if (s != 0) return core::from_c(why, s, name, "understand the address " + core::quoted(text));
    return peer{number};
}

result<peer> domain::insert(std::span<const std::byte> bytes) {
    std::uint64_t number = WEFT_ANY_PEER;
    weft_failure why = core::empty_failure();
    const weft_status s = state_->impl->ops->insert(state_->impl, bytes.data(), bytes.size(), &number, &why);
    if (s != 0)
        return core::from_c(why, s, state_->what.provider,
                            "understand " + std::to_string(bytes.size()) + " bytes as an address");
    return peer{number};
}

std::string domain::text_of(peer p) const {
    if (p == any_peer) return "any peer";
    char text[256] = {};  // the longest address text of a provider is 63 bytes, see weft_path
    if (state_->impl->ops->peer_text(state_->impl, p.value, text, sizeof text) != 0)
        return "peer " + std::to_string(p.value) + " (a number that this domain never gave out)";
    text[sizeof text - 1] = '\0';
    return text;
}

const offer& domain::what() const noexcept { return state_->what; }

}  // namespace weft
