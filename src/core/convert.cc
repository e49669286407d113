#include "core/convert.hpp"

namespace weft::core {
namespace {

std::string text_or_empty(const char* text) { return text != nullptr ? text : ""; }

std::uint8_t bit(bool on) noexcept { return on ? 1 : 0; }

struct capability_name {
    capset bit;
    const char* name;
};
constexpr capability_name capability_names[] = {
    {caps::msg, "msg"}, {caps::tagged, "tagged"}, {caps::rma, "rma"}, {caps::atomics, "atomics"}};

}  // namespace

weft_needs to_c(capset c, const needs& n) noexcept {
    weft_needs out{};
    out.size = sizeof out;
    out.capabilities = c.bits;
    out.reliable = bit(n.deliver == reliability::reliable);
    out.ordered = bit(n.order == ordering::per_peer);
    out.any_thread = bit(n.threads == threading::any_thread);
    out.autonomous = bit(n.advance == progress::autonomous);
    out.remote_data = bit(n.remote_data);
    out.wait_fd = bit(n.wait_fd);
    out.message_size_min = n.message_size_min;
    out.inject_size_min = n.inject_size_min;
    out.posted_receives_min = n.posted_receives_min;
    out.iov_count_min = n.iov_count_min;
    return out;
}

offer from_c(const weft_offer& o, const std::string& provider) {
    offer out;
    out.provider = provider;
    out.device = text_or_empty(o.device);
    out.reach = text_or_empty(o.reach);
    out.why = text_or_empty(o.why);
    out.abilities = {o.capabilities};
    out.rank = o.rank;
    out.inline_max = o.inline_max;
    out.eager_max = o.eager_max;
    out.message_size_max = o.message_size_max;
    out.inject_size_max = o.inject_size_max;
    out.posted_receives_max = o.posted_receives_max;
    out.iov_count_max = o.iov_count_max;
    const std::string details = text_or_empty(o.details);
    std::string_view rest = details;
    while (!rest.empty()) {
        const auto end = rest.find('\n');
        const std::string_view line = rest.substr(0, end);
        rest = end == rest.npos ? std::string_view{} : rest.substr(end + 1);
        const auto equals = line.find('=');
        if (line.empty()) continue;
        out.details.emplace_back(line.substr(0, equals),
                                 equals == line.npos ? std::string_view{} : line.substr(equals + 1));
    }
    return out;
}

refusal from_c(const weft_refusal& r, const std::string& provider) {
    return {provider,
            text_or_empty(r.device),
            text_or_empty(r.property),
            text_or_empty(r.wanted),
            text_or_empty(r.offered),
            text_or_empty(r.remedy)};
}

weft_failure empty_failure() noexcept {
    weft_failure f;
    f.code = 0;
    f.native = 0;
    f.text[0] = '\0';
    return f;
}

failure from_c(weft_failure& f, weft_status status, std::string_view provider, std::string_view wanted) {
    f.text[sizeof f.text - 1] = '\0';  // whatever the provider wrote ends here
    const std::int32_t code = f.code != 0 ? f.code : status;
    failure out{code != 0 ? static_cast<errc>(code) : errc::system_error, f.native, f.text};
    if (out.text.empty()) {
        out.text = "cannot " + std::string(wanted) + ": ";
        out.text += code != 0 ? describe(out.code).text : "the provider gave no reason";
    }
    if (!provider.empty() && !out.text.starts_with(std::string(provider) + ":"))
        out.text = std::string(provider) + ": " + out.text;
    return out;
}

std::string text_of(capset c) {
    std::string text;
    for (const capability_name& n : capability_names)
        if (c.has(n.bit)) text += (text.empty() ? "" : ", ") + std::string(n.name);
    return text.empty() ? "none" : text;
}

}  // namespace weft::core
