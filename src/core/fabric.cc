#include <weft/fabric.hpp>

#include <algorithm>

#include "core/complaints.hpp"
#include "core/convert.hpp"
#include "core/discovery.hpp"
#include "core/domain_state.hpp"
#include "core/host.hpp"
#include "core/plugins.hpp"
#include "core/providers.hpp"
#include "core/settings.hpp"
#include "core/surroundings.hpp"
#include "core/tables.hpp"

#ifndef WEFT_VERSION  // the build passes the project's version
#define WEFT_VERSION "0.1.0"
#endif

namespace weft {

// Nothing here changes once the fabric is open, so that all calls may come from any thread.
struct fabric::state {
    core::host_ptr host;
    core::provider_list providers;
    std::vector<setting_info> settings;
    std::vector<std::string> warnings;
    core::provider_choice choice;

    explicit state(core::host_ptr lender) : host(std::move(lender)) {}
};

namespace core {
namespace {

// Names in `log` and `provider` can be judged only when all providers are known.
void check_names(const provider_list& providers, settings_table& settings, complaints& to) {
    const std::string& setting = settings.at("provider").value;
    const provider_choice choice = provider_choice::parse(setting);
    for (const std::string* name : {&choice.only, &choice.first}) {
        if (name->empty() || providers.find(*name) != nullptr) continue;
        const setting_info& info = settings.at("provider");
        const std::string why = providers.explain_unknown(*name);
        if (info.origin == setting_origin::program)
            settings.reject("provider", errc::unknown_name, why, to);
        else  // stays in force: who pins a provider does not want another one instead
            to.add("settings", info.where + ": " + why);
        break;
    }

    const setting_info& log = settings.at("log");
    const auto levels = parse_log_levels(log.value);
    if (!levels) return;  // was reported when it was read
    for (const auto& [name, level] : levels->exceptions) {
        const bool own = name == "core" || name == "settings" || name == "plugin";
        if (own || providers.find(name) != nullptr || is_known_provider_name(name)) continue;
        to.add("settings", (log.where.empty() ? "log" : log.where) + ": '" + name +
                               "' is no subsystem of the log; there are: core, settings, plugin, and the providers " +
                               providers.names());
    }
}

}  // namespace

result<fabric> open_fabric(fabric_options options, const surroundings& around) {
    const auto state = std::make_shared<fabric::state>(host_ptr(new host(std::move(options.sink))));
    complaints odd;
    settings_table settings(options.settings, around, odd);
    if (auto levels = parse_log_levels(settings.at("log").value)) state->host->log.set_levels(std::move(*levels));

    for (weft_provider* p : around.builtin)
        if (auto added = state->providers.add(p, "built in", settings, odd); !added)
            odd.add("core", "a built-in provider is left out: " + added.error().text);
    if (options.load_plugins) {
        const setting_info& path = settings.at("plugin_path");
        const bool named = path.origin != setting_origin::initial;
        // A copy: plug-ins add settings to the table the reference points into.
        load_plugins(std::string(path.value), named ? when_missing::complain : when_missing::say_nothing,
                     state->providers, settings, odd);
    }
    settings.report_unknown(state->providers, odd);
    check_names(state->providers, settings, odd);
    if (settings.fault_of_program().code != errc::ok) return settings.fault_of_program();

    state->settings = settings.list();
    for (const setting_info& s : state->settings) state->host->values.emplace(s.name, s.value);
    state->choice = provider_choice::parse(state->host->values["provider"]);
    for (const complaint& c : odd.list()) {
        state->warnings.push_back(c.text);
        state->host->log.log(log_level::warning, c.subsystem, c.text);
    }
    return fabric(state);
}

}  // namespace core

result<fabric> fabric::open(fabric_options options) {
    return core::open_fabric(std::move(options), core::surroundings::of_process());
}

discovery fabric::offers(capset c, const needs& want, const preferences& like) const {
    return core::discover(state_->providers, *state_->host.get(), c, want, like, state_->choice);
}

namespace {

result<domain> open_on(const core::provider_list& providers, const core::host_ptr& host, const offer& how, capset c,
                       const needs& want) {
    const core::provider_entry* entry = providers.find(how.provider);
    if (entry == nullptr)
        return failure{errc::unknown_name, 0, "cannot open a domain: " + providers.explain_unknown(how.provider)};
    if (!want.provider.empty() && want.provider != how.provider)
        return failure{errc::invalid_argument, 0,
                       how.provider + ": cannot open a domain for this offer: the needs are pinned to the provider " +
                           core::quoted(want.provider) + "; clear needs::provider or take an offer of that one"};
    const weft_needs needed = core::to_c(c, want);
    weft_failure why = core::empty_failure();
    weft_provider* p = entry->provider;
    weft_domain* made = p->ops->open_domain(p, host.get(), how.device.c_str(), &needed, &why);
    if (made == nullptr) return core::from_c(why, 0, entry->name, "open a domain");
    if (const std::string fault = core::fault_in(made->ops); !fault.empty())
        return failure{errc::version_mismatch, 0,
                       entry->name + ": the provider made a domain that cannot be used: " + fault};
    return domain(std::make_shared<domain::state>(host, made, how, want.threads));
}

}  // namespace

result<domain> fabric::open_domain(const offer& how, const needs& want) const {
    return open_on(state_->providers, state_->host, how, how.abilities, want);
}

result<domain> fabric::best(capset c, const needs& want, const preferences& like) const {
    const discovery found = offers(c, want, like);
    if (found.offers.empty()) return failure{errc::no_offer, 0, core::explain(found, c)};
    return open_on(state_->providers, state_->host, found.offers.front(), c, want);
}

result<domain> fabric::best_for(std::string_view target, capset c, const needs& want) const {
    const auto end = target.find("://");
    if (end == target.npos || end == 0)
        return failure{errc::bad_address, 0,
                       core::quoted(target) +
                           " is not an address: it does not start with a provider's name and '://', as in "
                           "shm://<32 hex digits>"};
    const std::string scheme(target.substr(0, end));
    if (!want.provider.empty() && want.provider != scheme)
        return failure{errc::no_offer, 0,
                       "the address " + core::quoted(target) + " belongs to the provider " + core::quoted(scheme) +
                           ", but the needs are pinned to " + core::quoted(want.provider) +
                           "; clear needs::provider or use an address of that provider"};
    if (state_->providers.find(scheme) == nullptr)
        return failure{errc::bad_address, 0,
                       core::quoted(target) + " cannot be reached: " + state_->providers.explain_unknown(scheme)};
    needs pinned = want;
    pinned.provider = scheme;
    return best(c, pinned);
}

std::vector<provider_info> fabric::providers() const {
    std::vector<provider_info> list;
    for (const core::provider_entry& e : state_->providers.all())
        list.push_back({e.name, e.provider->text, e.origin, true});
    for (const core::known_provider& k : core::known_providers())
        if (state_->providers.find(k.name) == nullptr)
            list.push_back({std::string(k.name), k.text, "not part of this build", false});
    return list;
}

std::vector<setting_info> fabric::settings() const { return state_->settings; }

std::vector<std::string> fabric::warnings() const { return state_->warnings; }

const char* version() noexcept { return WEFT_VERSION; }

}  // namespace weft
