#include "core/settings_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "core/limits.hpp"
#include "os/descriptor.hpp"

namespace weft::core {
namespace {

constexpr bool is_blank(char c) noexcept { return c == ' ' || c == '\t' || c == '\r'; }

std::string_view trimmed(std::string_view text) noexcept {
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
    return text;
}

// A '#' inside a word belongs to the word: paths may contain one.
std::string_view without_comment(std::string_view line) noexcept {
    for (std::size_t i = 0; i < line.size(); ++i)
        if (line[i] == '#' && (i == 0 || is_blank(line[i - 1]))) return line.substr(0, i);
    return line;
}

void complain(complaints& to, const std::string& path, const std::string& what) {
    to.add("settings", "the settings file " + path + " " + what + "; it is ignored");
}

std::string why(int error) { return std::generic_category().message(error); }

}  // namespace

std::vector<given_value> parse_settings(std::string_view text, const std::string& path, complaints& to) {
    std::vector<given_value> values;
    std::size_t number = 0;
    while (!text.empty()) {
        const auto end = text.find('\n');
        const std::string_view line = trimmed(without_comment(text.substr(0, end)));
        text = end == text.npos ? std::string_view{} : text.substr(end + 1);
        ++number;
        if (line.empty()) continue;
        const std::string where = path + ":" + std::to_string(number);
        const auto equals = line.find('=');
        const std::string_view name = trimmed(line.substr(0, equals));
        if (equals == line.npos || name.empty()) {
            to.add("settings", where + ": " + quoted(line) + " is not of the form 'name = value'; the line is ignored");
            continue;
        }
        const auto same = std::find_if(values.begin(), values.end(), [&](const auto& v) { return v.name == name; });
        if (same != values.end()) {
            to.add("settings",
                   where + ": " + std::string(name) + " was set before, at " + same->where + "; the later line counts");
            values.erase(same);
        }
        values.push_back(
            {std::string(name), std::string(trimmed(line.substr(equals + 1))), setting_origin::file, where});
    }
    return values;
}

std::vector<given_value> read_settings_file(const std::string& path, when_missing missing, complaints& to) {
    // Not blocking, so that a pipe at this place is an error and not a hang.
    const os::descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)};
    if (!file) {
        const int error = errno;
        if (missing == when_missing::complain || (error != ENOENT && error != ENOTDIR))
            complain(to, path, "cannot be opened: " + why(error));
        return {};
    }
    struct stat about{};
    if (::fstat(file.get(), &about) != 0 || !S_ISREG(about.st_mode)) {
        complain(to, path, "is not a regular file");
        return {};
    }
    std::string text(limits::settings_file_bytes + 1, '\0');
    std::size_t filled = 0;
    while (filled < text.size()) {
        const ssize_t n = ::read(file.get(), text.data() + filled, text.size() - filled);
        if (n == 0) break;
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) {
            complain(to, path, "cannot be read: " + why(errno));
            return {};
        }
        filled += static_cast<std::size_t>(n);
    }
    if (filled > limits::settings_file_bytes) {
        complain(to, path, "is larger than " + std::to_string(limits::settings_file_bytes / 1024) + " KiB");
        return {};
    }
    text.resize(filled);
    if (text.find('\0') != text.npos) {
        complain(to, path, "is not a text file");
        return {};
    }
    return parse_settings(text, path, to);
}

}  // namespace weft::core
