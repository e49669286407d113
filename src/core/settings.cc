#include "core/settings.hpp"

#include <algorithm>

#include "base/edit_distance.hpp"
#include "core/log.hpp"
#include "core/providers.hpp"

namespace weft::core {
namespace {

constexpr std::string_view prefix = "WEFT_";

std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return out;
}
std::string upper(std::string_view text) {
    std::string out(text);
    for (char& c : out)
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    return out;
}

std::vector<setting_definition> core_settings(const surroundings& around) {
    return {
        {"config", WEFT_SETTING_TEXT, "", "",
         "Path of the only settings file to read, or 'none'; empty: the user's, then the system's."},
        {"log", WEFT_SETTING_TEXT, "warning", "",
         "Levels off, error, warning, info, debug: one for all, or by subsystem as in 'info,shm=debug'."},
        {"plugin_path", WEFT_SETTING_TEXT, around.plugin_directory, "",
         "Directories to load plug-ins from, absolute, separated by colons."},
        {"provider", WEFT_SETTING_TEXT, "", "",
         "The only provider to use, or with 'prefer:' in front the one to rank first; empty: all, best first."},
    };
}

std::vector<given_value> from_environment(const surroundings& around) {
    std::vector<given_value> values;
    for (const auto& [variable, value] : around.environment) {
        if (!variable.starts_with(prefix)) continue;
        std::string name = lower(variable.substr(prefix.size()));
        // A variable in lower case is not ours; it stays as it is and becomes an unknown name with a suggestion.
        if (upper(name) != variable.substr(prefix.size())) name = variable;
        values.push_back({std::move(name), value, setting_origin::environment, variable});
    }
    return values;
}

std::string users_settings_file(const surroundings& around) {
    const auto absolute = [&](const char* variable) -> std::string {
        const auto found = around.environment.find(variable);
        return found != around.environment.end() && found->second.starts_with('/') ? found->second : "";
    };
    if (std::string base = absolute("XDG_CONFIG_HOME"); !base.empty()) return base + "/weft/weft.conf";
    if (std::string home = absolute("HOME"); !home.empty()) return home + "/.config/weft/weft.conf";
    return {};
}

// Weakest first.
std::vector<given_value> from_files(const std::string& config, const surroundings& around, complaints& to) {
    std::vector<given_value> values;
    const auto take = [&](const std::string& path, when_missing missing) {
        for (given_value& v : read_settings_file(path, missing, to)) {
            if (v.name == "config")
                to.add("settings", v.where + ": config cannot be set in a settings file; the line is ignored");
            else
                values.push_back(std::move(v));
        }
    };
    if (config == "none") return values;
    if (!config.empty()) {
        take(config, when_missing::complain);
        return values;
    }
    if (!around.system_settings_file.empty()) take(around.system_settings_file, when_missing::say_nothing);
    if (const std::string path = users_settings_file(around); !path.empty()) take(path, when_missing::say_nothing);
    return values;
}

// How the name is written where this value was given.
std::string spelling(std::string_view name, setting_origin origin) {
    return origin == setting_origin::environment ? std::string(prefix) + upper(name) : std::string(name);
}

std::string subject(const given_value& v) {
    switch (v.origin) {
        case setting_origin::environment: return v.where;
        case setting_origin::file: return v.where + ": " + v.name;
        default: return "the setting " + quoted(v.name);
    }
}

}  // namespace

settings_table::settings_table(const std::map<std::string, std::string>& program, const surroundings& around,
                               complaints& to) {
    std::vector<given_value> strong = from_environment(around);
    for (const auto& [name, value] : program) strong.push_back({name, value, setting_origin::program, "program"});

    std::string config;
    for (const given_value& v : strong)
        if (v.name == "config") config = v.value;
    given_ = from_files(config, around, to);
    given_.insert(given_.end(), std::make_move_iterator(strong.begin()), std::make_move_iterator(strong.end()));

    for (const setting_definition& d : core_settings(around)) define(d, to);
    const setting_info& log = at("log");
    if (auto levels = parse_log_levels(log.value); !levels) reject("log", levels.error().code, levels.error().text, to);
}

void settings_table::define(const setting_definition& d, complaints& to) {
    setting_info info{d.name, d.initial, d.initial, d.choices, d.text, setting_origin::initial, ""};
    for (const given_value& v : given_) {
        if (v.name != d.name) continue;
        auto value = checked_value(d, v.value);
        if (!value) {
            blame(v, errc::invalid_argument, value.error().text, to);
            continue;
        }
        info.value = std::move(*value);
        info.origin = v.origin;
        info.where = v.where;
    }
    const auto place = std::lower_bound(list_.begin(), list_.end(), info.name,
                                        [](const setting_info& i, const std::string& name) { return i.name < name; });
    list_.insert(place, std::move(info));
}

void settings_table::reject(std::string_view name, errc code, const std::string& why, complaints& to) {
    for (setting_info& info : list_) {
        if (info.name != name) continue;
        blame({info.name, info.value, info.origin, info.where}, code, why, to);
        info.value = info.initial;
        info.origin = setting_origin::initial;
        info.where.clear();
    }
}

void settings_table::blame(const given_value& v, errc code, const std::string& why, complaints& to) {
    if (v.origin == setting_origin::program) {
        if (fault_.code == errc::ok) fault_ = {code, 0, subject(v) + ": " + why};
    } else {
        to.add("settings", subject(v) + ": " + why + "; the value is ignored");
    }
}

void settings_table::report_unknown(const provider_list& providers, complaints& to) {
    for (const given_value& v : given_) {
        const bool known = std::any_of(list_.begin(), list_.end(), [&](const auto& i) { return i.name == v.name; });
        if (known) continue;
        std::string text = subject(v) + " is not a setting; " + suggestion_for(v, providers);
        if (v.origin != setting_origin::program)
            to.add("settings", std::move(text));
        else if (fault_.code == errc::ok)
            fault_ = {errc::unknown_name, 0, std::move(text)};
    }
}

std::string settings_table::suggestion_for(const given_value& v, const provider_list& providers) const {
    std::vector<std::string_view> names;
    for (const setting_info& i : list_) names.push_back(i.name);
    std::string_view name = v.name;
    // People write the variable's name into files; also what is left of a variable that was not in upper case.
    if (upper(name).starts_with(prefix)) name.remove_prefix(prefix.size());
    if (const std::string_view near = base::nearest(name, names); !near.empty())
        return "did you mean " + spelling(near, v.origin) + "?";
    const std::string owner = lower(name.substr(0, name.find('_')));
    if (is_known_provider_name(owner) && providers.find(owner) == nullptr)
        return "the provider " + owner + " is not part of this build";
    return "'weft env' lists all settings";
}

const setting_info& settings_table::at(std::string_view name) const noexcept {
    return *std::find_if(list_.begin(), list_.end(), [&](const setting_info& i) { return i.name == name; });
}

}  // namespace weft::core
