#include "chart.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "sizes.hpp"

namespace weft::tool {
namespace {

constexpr double columns = 40;  // with labels it fits an 80-column terminal

// A bar of eighths of a column.
std::string bar(double length) {
    static constexpr std::array<const char*, 8> parts{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    const auto eighths = static_cast<std::size_t>(std::max(1.0, std::round(length * 8)));
    std::string text;
    for (std::size_t i = 0; i < eighths / 8; ++i) text += "█";
    return text + parts[eighths % 8];
}

}  // namespace

std::string terminal_chart(quantity test, std::span<const perf_row> rows) {
    double least = std::numeric_limits<double>::max();
    double most = 0;
    for (const perf_row& r : rows) {
        if (r.figure <= 0) continue;  // empty messages have no bandwidth
        const double with_floor = r.floor && r.floor->figure > 0 ? r.floor->figure : r.figure;
        least = std::min({least, r.figure, with_floor});
        most = std::max({most, r.figure, with_floor});
    }
    if (most <= 0) return {};
    // The shortest bar still shows: the scale begins at half of the least figure.
    const double origin = std::log2(least) - 1;
    const double scale = columns / (std::log2(most) - origin);
    std::string text =
        fmt::format("{} by size, logarithmic{}\n", name_of(test),
                    std::any_of(rows.begin(), rows.end(), [](const perf_row& r) { return r.floor.has_value(); })
                        ? "; the second bar is the floor"
                        : "");
    for (const perf_row& r : rows) {
        if (r.figure <= 0) continue;
        text += fmt::format("{:>10} {} {}\n", size_text(r.size), bar((std::log2(r.figure) - origin) * scale),
                            figure_text(test, r.figure));
        if (r.floor && r.floor->figure > 0)
            text += fmt::format("{:>10} {} {}\n", "", bar((std::log2(r.floor->figure) - origin) * scale),
                                figure_text(test, r.floor->figure));
    }
    return text;
}

}  // namespace weft::tool
