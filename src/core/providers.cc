#include "core/providers.hpp"

#include <algorithm>

#include "base/edit_distance.hpp"
#include "core/complaints.hpp"
#include "core/limits.hpp"
#include "core/settings.hpp"
#include "core/tables.hpp"

namespace weft::core {
namespace {

constexpr known_provider known[] = {
    {"link", "several providers behind one endpoint"},
    {"shm", "processes of one host, through shared memory"},
    {"sim", "a simulated network with virtual time, for tests"},
    {"tcp", "any network, over kernel TCP sockets"},
    {"udp", "any network, over kernel UDP sockets"},
    {"verbs", "RDMA devices: InfiniBand, RoCE, iWARP"},
    {"virtio", "virtio network devices, driven from user space"},
    {"xdp", "Ethernet through AF_XDP sockets"},
};

// Words that are subsystems of the log or settings of the core.
constexpr std::string_view reserved[] = {"weft", "core", "settings", "plugin", "config", "log", "provider", "prefer"};

std::string fault_in_name(std::string_view name) {
    const bool fits =
        !name.empty() && name.size() <= limits::provider_name_bytes && name[0] >= 'a' && name[0] <= 'z' &&
        std::all_of(name.begin(), name.end(), [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); });
    if (!fits)
        return "the provider's name " + quoted(name) + " is not a lower case word of at most " +
               std::to_string(limits::provider_name_bytes) + " letters and digits";
    if (std::find(std::begin(reserved), std::end(reserved), name) != std::end(reserved))
        return "the provider's name " + quoted(name) + " is reserved";
    return {};
}

failure unusable(std::string text) { return {errc::version_mismatch, 0, std::move(text)}; }

}  // namespace

result<void> provider_list::add(weft_provider* p, std::string origin, settings_table& settings, complaints& to) {
    if (p == nullptr) return unusable("the pointer to a provider is null");
    if (p->name == nullptr) return unusable("a provider's name is null");
    if (std::string fault = fault_in_name(p->name); !fault.empty()) return unusable(std::move(fault));
    const std::string name = p->name;
    const std::string who = "the provider " + name + ": ";
    if (std::string fault = fault_in(p->ops); !fault.empty()) return unusable(who + fault);
    if (p->text == nullptr) return unusable(who + "its text is null");
    if (const provider_entry* other = find(name))
        return unusable("the provider " + name + " is already there (" + other->origin + ")");

    if (p->setting_count > limits::settings_per_provider || (p->setting_count > 0 && p->settings == nullptr))
        return unusable(who + "its list of " + std::to_string(p->setting_count) + " settings cannot be right");
    std::vector<setting_definition> definitions;
    for (std::size_t i = 0; i < p->setting_count; ++i) {
        auto d = checked_definition(p->settings[i], name);
        if (!d) return unusable(who + d.error().text);
        const bool twice =
            std::any_of(definitions.begin(), definitions.end(), [&](const auto& o) { return o.name == d->name; });
        if (twice) return unusable(who + "it declares the setting " + d->name + " twice");
        definitions.push_back(std::move(*d));
    }

    for (const setting_definition& d : definitions) settings.define(d, to);
    const auto place = std::lower_bound(entries_.begin(), entries_.end(), name,
                                        [](const provider_entry& e, const std::string& n) { return e.name < n; });
    entries_.insert(place, {p, name, std::move(origin)});
    return {};
}

const provider_entry* provider_list::find(std::string_view name) const noexcept {
    const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const auto& e) { return e.name == name; });
    return found == entries_.end() ? nullptr : &*found;
}

std::string provider_list::names() const {
    std::string text;
    for (const provider_entry& e : entries_) text += (text.empty() ? "" : ", ") + e.name;
    return text.empty() ? "none" : text;
}

std::string provider_list::explain_unknown(std::string_view name) const {
    const std::string there = "; there are: " + names();
    if (is_known_provider_name(name)) return "the provider " + std::string(name) + " is not part of this build" + there;
    std::vector<std::string_view> candidates;
    for (const provider_entry& e : entries_) candidates.push_back(e.name);  // first, so that they win a tie
    for (const known_provider& k : known) candidates.push_back(k.name);
    std::string text = "there is no provider " + quoted(name);
    if (const std::string near(base::nearest(name, candidates)); !near.empty()) {
        text += "; did you mean " + near + "?";
        if (find(near) == nullptr) text += " " + near + " is not part of this build";
    }
    return text + there;
}

std::span<const known_provider> known_providers() noexcept { return known; }

bool is_known_provider_name(std::string_view name) noexcept {
    return std::any_of(std::begin(known), std::end(known), [&](const auto& k) { return k.name == name; });
}

}  // namespace weft::core
