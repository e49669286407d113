#include "sizes.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <limits>

#include <fmt/format.h>

namespace weft::tool {
namespace {

failure not_a_size(std::string_view text) {
    return {errc::invalid_argument, 0, fmt::format("'{}' is not a size; sizes look like 8, 4K, 1M, or 2G", text)};
}

// The power of two a suffix stands for; negative for something else.
int shift_of(std::string_view suffix) {
    std::string lower;
    for (const char c : suffix) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (lower.ends_with('b')) lower.pop_back();
    if (lower.ends_with('i') && lower.size() == 2) lower.pop_back();
    if (lower.empty()) return 0;
    if (lower.size() > 1) return -1;
    const std::size_t at = std::string_view("kmgt").find(lower.front());
    return at == std::string_view::npos ? -1 : static_cast<int>(at + 1) * 10;
}

}  // namespace

result<std::uint64_t> parse_size(std::string_view text) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc::result_out_of_range)
        return failure{errc::invalid_argument, 0, fmt::format("'{}' is too large; sizes end below 16 EiB", text)};
    if (error != std::errc{}) return not_a_size(text);
    const int shift = shift_of(text.substr(static_cast<std::size_t>(end - text.data())));
    if (shift < 0) return not_a_size(text);
    if (number > (std::numeric_limits<std::uint64_t>::max() >> shift))
        return failure{errc::invalid_argument, 0, fmt::format("'{}' is too large; sizes end below 16 EiB", text)};
    return number << shift;
}

std::vector<std::uint64_t> doubling(std::uint64_t first, std::uint64_t last) {
    std::vector<std::uint64_t> sizes;
    std::uint64_t size = first;
    for (; size < last; size = size == 0 ? 1 : size * 2) {
        sizes.push_back(size);
        if (size > last / 2) break;  // the next doubling would pass the end, or overflow
    }
    if (sizes.empty() || sizes.back() != last) sizes.push_back(last);
    return sizes;
}

result<std::vector<std::uint64_t>> parse_sizes(std::string_view text) {
    std::vector<std::uint64_t> sizes;
    while (true) {
        const std::size_t comma = text.find(',');
        const std::string_view part = text.substr(0, comma);
        const std::size_t colon = part.find(':');
        const auto first = parse_size(part.substr(0, colon));
        if (!first) return first.error();
        if (colon == std::string_view::npos) {
            sizes.push_back(*first);
        } else {
            const auto last = parse_size(part.substr(colon + 1));
            if (!last) return last.error();
            if (*last < *first)
                return failure{errc::invalid_argument, 0,
                               fmt::format("the range '{}' ends before it begins; write '{}:{}'", part,
                                           part.substr(colon + 1), part.substr(0, colon))};
            const auto range = doubling(*first, *last);
            sizes.insert(sizes.end(), range.begin(), range.end());
        }
        if (comma == std::string_view::npos) break;
        text.remove_prefix(comma + 1);
    }
    std::sort(sizes.begin(), sizes.end());
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    return sizes;
}

std::string size_text(std::uint64_t bytes) {
    constexpr std::array<const char*, 6> units{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    if (bytes < 1024) return fmt::format("{} B", bytes);
    double value = static_cast<double>(bytes) / 1024.0;
    std::size_t unit = 0;
    while (value >= 1024.0 && unit + 1 < units.size()) {
        value /= 1024.0;
        ++unit;
    }
    return fmt::format("{:.4g} {}", value, units[unit]);
}

}  // namespace weft::tool
