// The program `weft`: subcommands in the manner of git.
#include <array>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/edit_distance.hpp"
#include "cli.hpp"

namespace weft::tool {

std::string did_you_mean(std::string_view name, std::span<const std::string_view> candidates) {
    const std::string_view near = base::nearest(name, candidates);
    return near.empty() ? std::string{} : fmt::format("; did you mean '{}'?", near);
}

std::string_view one_of(std::string_view what, std::string_view value, std::span<const std::string_view> choices) {
    for (const std::string_view choice : choices)
        if (choice == value) return choice;
    throw usage_error(fmt::format("{} cannot be '{}': it is one of {}{}", what, value, fmt::join(choices, ", "),
                                  did_you_mean(value, choices)));
}

void print_log(log_level level, std::string_view subsystem, std::string_view text) {
    static constexpr std::array<std::string_view, 5> names{"", "error", "warning", "info", "debug"};
    const std::size_t at = std::min<std::size_t>(static_cast<std::size_t>(level), names.size() - 1);
    fmt::print(stderr, "weft: {}: {}: {}\n", names[at], subsystem, text);
}

void print_failure(const failure& f) {
    fmt::print(stderr, "weft: {}\n", f.text.empty() ? std::string(describe(f.code).text) : f.text);
}

result<fabric> open_fabric() { return fabric::open({.settings = {}, .sink = print_log, .load_plugins = true}); }

namespace {

constexpr std::string_view examples = R"(
Examples:
  weft info                             what this host offers, best first, and what it does not
  weft info -v --capabilities tagged    with thresholds and details
  weft env                              every setting, its value, and where that came from
  weft perf latency --local             half round trips between two processes of this host
  weft perf bandwidth --local --floor   beside what the memory of this host can do

Exit status: 0 fine, 1 a negative answer or a failure, 2 a usage error.
)";

// Every name an option or subcommand of `app` goes by, as it is typed.
std::vector<std::string> option_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::Option* option : app.get_options()) {
        for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
        for (const std::string& name : option->get_snames()) names.push_back("-" + name);
    }
    return names;
}

std::vector<std::string> subcommand_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
        names.push_back(sub->get_name());
    return names;
}

std::string suggestion(std::string_view given, const std::vector<std::string>& names) {
    const std::vector<std::string_view> views(names.begin(), names.end());
    return did_you_mean(given.substr(0, given.find('=')), views);
}

int complain(const CLI::App& app, std::string_view text) {
    const std::string name = app.get_parent() == nullptr ? "weft" : "weft " + app.get_name();
    fmt::print(stderr, "{}: {}{} see '{} --help'\n", name, text, text.ends_with('?') ? "" : ";", name);
    return exit_usage;
}

// What was left over after parsing: a mistyped subcommand or option, or a word too many.
int complain_about_rest(const CLI::App& app, const std::string& given) {
    const bool is_root = app.get_parent() == nullptr;
    if (given.starts_with('-') && given != "-")
        return complain(app, fmt::format("unknown option '{}'{}", given, suggestion(given, option_names(app))));
    if (is_root)
        return complain(app, fmt::format("unknown subcommand '{}'{}", given, suggestion(given, subcommand_names(app))));
    return complain(app, fmt::format("unexpected argument '{}'", given));
}

struct subcommand {
    CLI::App* app;
    action run;
};

int help(CLI::App& root, const std::string& topic) {
    if (topic.empty()) {
        fmt::print("{}", root.help());
        return exit_fine;
    }
    for (CLI::App* sub : root.get_subcommands([](CLI::App*) { return true; })) {
        if (sub->get_name() != topic || topic == "help") continue;
        fmt::print("{}", sub->help());
        return exit_fine;
    }
    return complain(root, fmt::format("no help on '{}'{}", topic, suggestion(topic, subcommand_names(root))));
}

// The subcommand that was asked for, or the root.
CLI::App& chosen(CLI::App& root) {
    const auto parsed = root.get_subcommands();
    return parsed.empty() ? root : *parsed.front();
}

int run(int argc, char** argv) {
    CLI::App root{"weft: messages and memory between processes", "weft"};
    root.footer(std::string(examples));
    root.set_version_flag("--version", std::string("weft ") + version());
    root.set_help_flag("-h,--help", "Show this help");
    root.allow_extras();

    std::vector<subcommand> subcommands;
    const auto add = [&](std::string_view name, action (*make)(CLI::App&)) {
        action act = make(root);
        CLI::App* app = root.get_subcommand(std::string(name));
        app->set_help_flag("-h,--help", "Show this help");
        app->allow_extras();
        subcommands.push_back({app, std::move(act)});
    };
    add("info", add_info);
    add("env", add_env);
    add("perf", add_perf);
    root.add_subcommand("help", "Show help on a subcommand");
    // Not left to the parser, which would take the topic for a subcommand to run.
    const std::vector<std::string_view> given(argv + 1, argv + argc);
    if (!given.empty() && given.front() == "help") {
        if (given.size() > 2) return complain(root, fmt::format("unexpected argument '{}'", given[2]));
        return help(root, given.size() == 2 && !given[1].starts_with('-') ? std::string(given[1]) : std::string{});
    }

    try {
        root.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
        fmt::print("{}", chosen(root).help());
        return exit_fine;
    } catch (const CLI::CallForVersion& wanted) {
        fmt::print("{}\n", wanted.what());
        return exit_fine;
    } catch (const CLI::ParseError& error) {
        return complain(chosen(root), error.what());
    }

    const auto rest = root.remaining();
    if (!rest.empty()) return complain_about_rest(root, rest.front());
    for (const subcommand& sub : subcommands) {
        if (!sub.app->parsed()) continue;
        const auto left = sub.app->remaining();
        if (!left.empty()) return complain_about_rest(*sub.app, left.front());
        try {
            return sub.run();
        } catch (const usage_error& error) {
            return complain(*sub.app, error.what());
        }
    }
    fmt::print(stderr, "{}", root.help());
    return exit_usage;
}

}  // namespace
}  // namespace weft::tool

int main(int argc, char** argv) {
    try {
        return weft::tool::run(argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "weft: %s\n", error.what());
        return weft::tool::exit_negative;
    }
}
