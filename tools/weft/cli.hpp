// What the subcommands of `weft` share: exit statuses, usage errors, suggestions.
#pragma once
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "weft/fabric.hpp"
#include "weft/log.hpp"

namespace CLI {
class App;
}

namespace weft::tool {

// Exit statuses of every subcommand.
inline constexpr int exit_fine = 0;
inline constexpr int exit_negative = 1;  // the question was understood and the answer is no, or the work failed
inline constexpr int exit_usage = 2;     // the command line makes no sense

// Thrown while the command line is read and shown as one line: "weft perf: <text>; see 'weft perf --help'".
struct usage_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// What a subcommand does once the command line has been read.
using action = std::function<int()>;

action add_info(CLI::App& root);
action add_env(CLI::App& root);
action add_perf(CLI::App& root);

// "; did you mean 'X'?" or nothing.
std::string did_you_mean(std::string_view name, std::span<const std::string_view> candidates);

// `value`, if it is one of the choices; otherwise a usage_error naming the nearest. `what` reads "--threads".
std::string_view one_of(std::string_view what, std::string_view value, std::span<const std::string_view> choices);

// The library's log on standard error, in the tool's own manner: "weft: warning: settings: ...".
void print_log(log_level level, std::string_view subsystem, std::string_view text);

// The failure's text and, where the text does not have it already, what to do; one line on standard error.
void print_failure(const failure& f);

// A fabric whose log goes to standard error.
result<fabric> open_fabric();

}  // namespace weft::tool
