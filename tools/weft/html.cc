#include "html.hpp"

#include <sys/utsname.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sizes.hpp"
#include "weft/fabric.hpp"

namespace weft::tool {
namespace {

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        switch (c) {
            case '<': out += "&lt;"; break;
            case '>': out += "&gt;"; break;
            case '&': out += "&amp;"; break;
            case '"': out += "&quot;"; break;
            default: out += c;
        }
    }
    return out;
}

// The drawing's size and margins in its own units; it scales with the page.
constexpr double width = 760, height = 420, left = 90, right = 20, top = 20, bottom = 50;

// Both axes logarithmic; the x axis by powers of two, the y axis by powers of ten.
class plot {
  public:
    plot(quantity test, std::span<const perf_row> rows) : test_(test) {
        for (const perf_row& r : rows) {
            if (r.figure <= 0) continue;
            const double x = std::log2(static_cast<double>(std::max<std::uint64_t>(r.size, 1)));
            ours_.emplace_back(x, r.figure);
            if (r.floor && r.floor->figure > 0) floor_.emplace_back(x, r.floor->figure);
        }
        if (ours_.empty()) return;
        x_first_ = ours_.front().first;
        x_last_ = std::max(ours_.back().first, x_first_ + 1);
        double least = ours_.front().second, most = least;
        for (const auto* line : {&ours_, &floor_}) {
            for (const auto& point : *line) {
                least = std::min(least, point.second);
                most = std::max(most, point.second);
            }
        }
        y_first_ = std::floor(std::log10(least));
        y_last_ = std::max(std::ceil(std::log10(most)), y_first_ + 1);
    }

    std::string draw() const {
        if (ours_.empty()) return {};
        std::string svg = fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{} by message size\">\n",
                                      width, height, name_of(test_));
        svg += grid();
        svg += polyline(floor_, "floor");
        svg += polyline(ours_, "ours");
        return svg + "</svg>\n";
    }

  private:
    using points = std::vector<std::pair<double, double>>;

    double x_of(double log_size) const {
        return left + (log_size - x_first_) / (x_last_ - x_first_) * (width - left - right);
    }
    double y_of(double figure) const {
        return height - bottom - (std::log10(figure) - y_first_) / (y_last_ - y_first_) * (height - top - bottom);
    }

    std::string grid() const {
        std::string svg;
        for (double decade = y_first_; decade <= y_last_; ++decade) {
            const double figure = std::pow(10.0, decade);
            const double y = y_of(figure);
            svg += fmt::format("<line class=\"grid\" x1=\"{}\" y1=\"{:.1f}\" x2=\"{}\" y2=\"{:.1f}\"/>\n", left, y,
                               width - right, y);
            svg += fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", left - 8, y + 4,
                               figure_text(test_, figure));
        }
        // At most some ten labels, or they overlap.
        const double step = std::max(1.0, std::ceil((x_last_ - x_first_) / 10));
        for (double x = std::ceil(x_first_); x <= x_last_; x += step) {
            svg += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", x_of(x),
                               height - bottom + 20, size_text(static_cast<std::uint64_t>(std::exp2(x))));
        }
        svg += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">message size</text>\n",
                           (left + width - right) / 2, height - 8);
        return svg;
    }

    std::string polyline(const points& line, std::string_view name) const {
        if (line.empty()) return {};
        std::string svg = fmt::format("<polyline class=\"{}\" points=\"", name);
        for (const auto& [x, figure] : line) svg += fmt::format("{:.1f},{:.1f} ", x_of(x), y_of(figure));
        svg += "\"/>\n";
        for (const auto& [x, figure] : line)
            svg += fmt::format(
                "<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\"><title>{}: {}, {}</title></circle>\n", name,
                x_of(x), y_of(figure), name, size_text(static_cast<std::uint64_t>(std::exp2(x) + 0.5)),
                figure_text(test_, figure));
        return svg;
    }

    quantity test_;
    points ours_, floor_;
    double x_first_ = 0, x_last_ = 1, y_first_ = 0, y_last_ = 1;
};

std::string table(quantity test, std::span<const perf_row> rows) {
    const bool with_floor =
        std::any_of(rows.begin(), rows.end(), [](const perf_row& r) { return r.floor.has_value(); });
    std::string html = "<table><thead><tr><th>size</th><th>count</th>";
    html += test == quantity::latency ? "<th>min</th><th>p50</th><th>p99</th><th>p99.9</th>"
                                      : fmt::format("<th>{}</th>", name_of(test));
    if (with_floor) html += "<th>floor</th><th>ratio</th><th>kept</th><th>placement</th>";
    html += "</tr></thead><tbody>\n";
    for (const perf_row& r : rows) {
        html += fmt::format("<tr><td>{}</td><td>{}</td>", size_text(r.size), r.count);
        if (test == quantity::latency)
            for (const double ns : {r.min_ns, r.p50_ns, r.p99_ns, r.p999_ns})
                html += fmt::format("<td>{}</td>", ns_text(ns));
        else
            html += fmt::format("<td>{}</td>", figure_text(test, r.figure));
        if (r.floor)
            html += fmt::format("<td>{}</td><td>{:.2f}</td><td>{} of {}</td><td>{}{}</td>",
                                figure_text(test, r.floor->figure), r.floor->ratio, r.floor->kept, r.floor->slices,
                                name_of(r.floor->where), r.floor->conclusive ? "" : ", inconclusive");
        else if (with_floor)
            html += "<td></td><td></td><td></td><td></td>";
        html += "</tr>\n";
    }
    return html + "</tbody></table>\n";
}

std::string processor_model() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        if (!line.starts_with("model name")) continue;
        const std::size_t colon = line.find(": ");
        if (colon != std::string::npos) return line.substr(colon + 2);
    }
    return "unknown processor";
}

std::string machine() {
    utsname names{};
    uname(&names);
    return fmt::format("{}, {} {} {}", processor_model(), names.sysname, names.release, names.machine);
}

std::string date() {
    const time_t now = time(nullptr);
    tm parts{};
    gmtime_r(&now, &parts);
    char text[32];
    strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &parts);
    return text;
}

constexpr std::string_view style = R"(<style>
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #fff; --faint: #d0d7de; --ours: #0969da; --floor: #bf8700; }
@media (prefers-color-scheme: dark) {
    :root { --ink: #e6edf3; --paper: #0d1117; --faint: #30363d; --ours: #58a6ff; --floor: #d29922; }
}
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
    max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; }
svg { width: 100%; height: auto; }
svg text { font-size: 12px; fill: currentColor; }
.grid { stroke: var(--faint); }
polyline { fill: none; stroke-width: 2; }
polyline.ours { stroke: var(--ours); } circle.ours { fill: var(--ours); }
polyline.floor { stroke: var(--floor); stroke-dasharray: 6 4; } circle.floor { fill: var(--floor); }
.key.ours { color: var(--ours); } .key.floor { color: var(--floor); }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .8rem; text-align: right; border-bottom: 1px solid var(--faint); }
</style>
)";

}  // namespace

result<void> write_html(const std::string& file, const perf_setting& setting, std::span<const perf_row> rows) {
    const bool with_floor =
        std::any_of(rows.begin(), rows.end(), [](const perf_row& r) { return r.floor.has_value(); });
    std::string page =
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width\">\n";
    page += fmt::format("<title>{}</title>\n{}</head>\n<body>\n<h1>{}</h1>\n", escaped(title_of(setting)), style,
                        escaped(title_of(setting)));
    page += fmt::format("<p>{}<br>weft {}, {}</p>\n", escaped(machine()), version(), date());
    page += "<p><span class=\"key ours\">&#9632;</span> weft";
    if (with_floor)
        page +=
            " &nbsp; <span class=\"key floor\">&#9632;</span> the floor: the copy and the cache lines, nothing else";
    page += setting.test == quantity::latency ? ". Half round trips, medians; less is better.</p>\n"
                                              : ". More is better.</p>\n";
    page += plot(setting.test, rows).draw();
    page += table(setting.test, rows);
    if (with_floor)
        page +=
            "<p>Figures beside a floor come from slices of some milliseconds during which the processors stayed where "
            "they were; ratio is ours over the floor's.</p>\n";
    page += "</body>\n</html>\n";

    std::ofstream out(file, std::ios::binary | std::ios::trunc);
    out << page;
    out.flush();
    if (out) return {};
    return failure{errc::system_error, errno,
                   fmt::format("cannot write the report to '{}': {}", file, std::strerror(errno))};
}

}  // namespace weft::tool
