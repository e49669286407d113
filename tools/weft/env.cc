// weft env: every setting, its value, and where that came from.
#include <algorithm>
#include <cctype>
#include <memory>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli.hpp"

namespace weft::tool {
namespace {

struct raw_options {
    bool json = false;
};

constexpr std::string_view examples = R"(
Examples:
  weft env                                 what is in force
  WEFT_LOG=info weft env --json            one JSON object per line

A program's own settings win over the environment, which wins over the settings file.
)";

std::string variable_of(std::string_view name) {
    std::string variable = "WEFT_";
    for (const char c : name) variable += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return variable;
}

std::string_view name_of(setting_origin origin) {
    switch (origin) {
        case setting_origin::initial: return "default";
        case setting_origin::file: return "file";
        case setting_origin::environment: return "environment";
        case setting_origin::program: return "program";
    }
    return "unknown";
}

void print_text(const setting_info& s) {
    std::string note = s.origin == setting_origin::initial ? std::string("default") : std::string(name_of(s.origin));
    if (!s.where.empty()) note += ": " + s.where;
    if (s.origin != setting_origin::initial)
        note += fmt::format("; default {}", s.initial.empty() ? "none" : s.initial);
    if (!s.choices.empty()) note += "; " + s.choices;
    fmt::print("{} = {}  ({})\n    {}\n", s.name, s.value.empty() ? "none" : s.value, note, s.text);
}

void print_json(const setting_info& s) {
    const nlohmann::ordered_json line{{"kind", "setting"},
                                      {"name", s.name},
                                      {"value", s.value},
                                      {"origin", name_of(s.origin)},
                                      {"default", s.initial},
                                      {"choices", s.choices},
                                      {"text", s.text},
                                      {"where", s.where},
                                      {"variable", variable_of(s.name)}};
    fmt::print("{}\n", line.dump());
}

int run(const raw_options& raw) {
    // What was odd about the settings comes with the answer, once: the log need not say it as well.
    const auto sink = [](log_level level, std::string_view subsystem, std::string_view text) {
        if (level > log_level::warning) print_log(level, subsystem, text);
    };
    const auto fab = fabric::open({.settings = {}, .sink = sink, .load_plugins = true});
    if (!fab) {
        print_failure(fab.error());
        return exit_negative;
    }
    for (const setting_info& s : fab->settings()) raw.json ? print_json(s) : print_text(s);
    std::fflush(stdout);
    for (const std::string& warning : fab->warnings()) {
        if (raw.json)
            fmt::print("{}\n", nlohmann::ordered_json{{"kind", "warning"}, {"text", warning}}.dump());
        else
            fmt::print(stderr, "weft: warning: {}\n", warning);
    }
    return exit_fine;
}

}  // namespace

action add_env(CLI::App& root) {
    const auto raw = std::make_shared<raw_options>();
    CLI::App* app = root.add_subcommand("env", "Show every setting, its value, and where that came from");
    app->footer(std::string(examples));
    app->add_flag("--json", raw->json, "One JSON object per line");
    return [raw] { return run(*raw); };
}

}  // namespace weft::tool
