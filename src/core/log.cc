#include "core/log.hpp"

#include <unistd.h>

#include <algorithm>
#include <functional>

namespace weft::core {
namespace {

constexpr std::string_view level_names[] = {"off", "error", "warning", "info", "debug"};

std::string_view trimmed(std::string_view text) noexcept {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return text;
}

bool is_subsystem_name(std::string_view name) noexcept {
    return !name.empty() && name.size() <= limits::provider_name_bytes &&
           std::all_of(name.begin(), name.end(),
                       [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
}

bool is_power_of_ten(std::uint64_t n) noexcept {
    while (n >= 10 && n % 10 == 0) n /= 10;
    return n == 1;
}

void write_to_stderr(log_level level, std::string_view subsystem, std::string_view text) {
    std::string line = "weft[" + std::string(level_name(level)) + "] " + std::string(subsystem) + ": ";
    line += text;
    if (line.size() >= limits::log_line_bytes) line.resize(limits::log_line_bytes - 1);
    // Texts quote what others wrote (files, addresses, errors): nothing of that may steer a terminal.
    std::replace_if(
        line.begin(), line.end(),
        [](char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == 0x7f; }, '?');
    line += '\n';
    // One call, so that lines of several processes do not mix. Where standard error is closed nobody is told.
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace

const char* level_name(log_level level) noexcept {
    const auto index = static_cast<std::size_t>(level);
    return index < std::size(level_names) ? level_names[index].data() : "?";
}

log_level log_levels::of(std::string_view subsystem) const noexcept {
    for (auto e = exceptions.rbegin(); e != exceptions.rend(); ++e)
        if (e->first == subsystem) return e->second;
    return standard;
}

result<log_levels> parse_log_levels(std::string_view text) {
    log_levels levels;
    while (true) {
        const auto comma = text.find(',');
        const std::string_view part = trimmed(text.substr(0, comma));
        const auto equals = part.find('=');
        const std::string_view word = equals == part.npos ? part : trimmed(part.substr(equals + 1));
        const auto* found = std::find(std::begin(level_names), std::end(level_names), word);
        if (found == std::end(level_names))
            return failure{errc::invalid_argument, 0,
                           "'" + std::string(word) + "' is not a level; levels are off, error, warning, info, debug"};
        const auto level = static_cast<log_level>(found - std::begin(level_names));
        if (equals == part.npos) {
            levels.standard = level;
        } else {
            const std::string_view name = trimmed(part.substr(0, equals));
            if (!is_subsystem_name(name))
                return failure{errc::invalid_argument, 0, "'" + std::string(name) + "' is not the name of a subsystem"};
            levels.exceptions.emplace_back(name, level);
        }
        if (comma == text.npos) return levels;
        text.remove_prefix(comma + 1);
    }
}

void logger::log(log_level level, std::string_view subsystem, std::string_view text) noexcept try {
    if (!enabled(level, subsystem)) return;
    const auto me = std::this_thread::get_id();
    if (inside_.load(std::memory_order_relaxed) == me) return;  // only this thread can have stored its own id
    const std::lock_guard guard(lock_);
    const std::uint64_t count = count_of(level, subsystem, text);
    if (count > 1 && (count < limits::first_repeat_shown || !is_power_of_ten(count))) return;
    if (level != log_level::debug && !within_rate()) {
        ++left_out_;
        return;
    }
    struct marker {
        std::atomic<std::thread::id>& inside;
        ~marker() { inside.store({}, std::memory_order_relaxed); }
    };
    inside_.store(me, std::memory_order_relaxed);
    const marker unmark{inside_};
    if (const std::uint64_t missing = std::exchange(left_out_, 0))
        deliver(log_level::warning, "core", std::to_string(missing) + " messages were left out, there were too many");
    if (count == 1)
        deliver(level, subsystem, text);
    else
        deliver(level, subsystem, std::string(text) + " (" + std::to_string(count) + " times so far)");
} catch (...) {
    // Out of memory, or the application's sink threw: a log must not add a second failure to the first.
}

std::uint64_t logger::count_of(log_level level, std::string_view subsystem, std::string_view text) noexcept {
    const std::hash<std::string_view> hash;
    const std::uint64_t key = (hash(text) * 31 + hash(subsystem) * 7 + static_cast<std::uint64_t>(level)) | 1;
    remembered& slot = seen_[(key >> 1) % seen_.size()];
    if (slot.key != key) slot = {key, 0};
    return ++slot.count;
}

// A bucket of log_burst lines, kept as the time at which it would be full again: each line moves it by one interval.
bool logger::within_rate() noexcept {
    constexpr std::uint64_t interval = 1'000'000'000 / limits::log_lines_per_second;
    const std::uint64_t now = now_();
    full_at_ = std::max(full_at_, now);
    if (full_at_ - now > (limits::log_burst - 1) * interval) return false;
    full_at_ += interval;
    return true;
}

void logger::deliver(log_level level, std::string_view subsystem, std::string_view text) {
    if (sink_)
        sink_(level, subsystem, text);
    else
        write_to_stderr(level, subsystem, text);
}

}  // namespace weft::core
