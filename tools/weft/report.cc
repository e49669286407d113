#include "report.hpp"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sizes.hpp"

namespace weft::tool {

const char* name_of(quantity q) noexcept {
    switch (q) {
        case quantity::latency: return "latency";
        case quantity::rate: return "rate";
        case quantity::bandwidth: return "bandwidth";
    }
    return "unknown";
}
const char* name_of(family f) noexcept { return f == family::send ? "send" : "tagged"; }
const char* name_of(threading t) noexcept { return t == threading::one_thread ? "one" : "any"; }

std::string ns_text(double ns) {
    if (ns < 1'000) return fmt::format("{:.0f} ns", ns);
    if (ns < 1'000'000) return fmt::format("{:.2f} us", ns / 1e3);
    return fmt::format("{:.2f} ms", ns / 1e6);
}

std::string figure_text(quantity q, double figure) {
    switch (q) {
        case quantity::latency: return ns_text(figure);
        case quantity::rate: return fmt::format("{:.3g} M/s", figure);
        case quantity::bandwidth:
            return figure < 1'000 ? fmt::format("{:.3g} MB/s", figure) : fmt::format("{:.2f} GB/s", figure / 1e3);
    }
    return {};
}

std::string title_of(const perf_setting& s) {
    std::string title =
        fmt::format("{} over {}: {}, {}", name_of(s.test), s.provider, s.op == family::send ? "untagged" : "tagged",
                    s.threads == threading::one_thread ? "one thread" : "any thread");
    if (s.test != quantity::latency) title += fmt::format(", window {}", s.window);
    if (s.checked) title += ", checked";
    if (!s.mechanism.empty()) title += ", large messages by " + s.mechanism;
    if (s.processors.size() == 1) title += fmt::format(", processor {}", s.processors[0]);
    if (s.processors.size() == 2) title += fmt::format(", processors {} and {}", s.processors[0], s.processors[1]);
    if (s.where) title += fmt::format(" ({}, probe {})", name_of(*s.where), ns_text(s.probe_ns));
    return title;
}

table_printer::table_printer(const perf_setting& setting, bool with_floor)
    : setting_(setting), with_floor_(with_floor) {}

void table_printer::header() const {
    fmt::print("{}\n", title_of(setting_));
    fmt::print("{:>10}  {:>10}", "size", "count");
    if (setting_.test == quantity::latency)
        fmt::print("  {:>10}  {:>10}  {:>10}  {:>10}", "min", "p50", "p99", "p99.9");
    else
        fmt::print("  {:>10}", name_of(setting_.test));
    if (with_floor_) fmt::print("  {:>10}  {:>6}  {:>9}  {}", "floor", "ratio", "kept", "placement");
    fmt::print("\n");
    std::fflush(stdout);
}

void table_printer::row(const perf_row& r) const {
    fmt::print("{:>10}  {:>10}", size_text(r.size), r.count);
    if (setting_.test == quantity::latency)
        fmt::print("  {:>10}  {:>10}  {:>10}  {:>10}", ns_text(r.min_ns), ns_text(r.p50_ns), ns_text(r.p99_ns),
                   ns_text(r.p999_ns));
    else
        fmt::print("  {:>10}", figure_text(setting_.test, r.figure));
    if (with_floor_) {
        if (r.floor) {
            fmt::print("  {:>10}  {:>6.2f}  {:>9}  {}{}", figure_text(setting_.test, r.floor->figure), r.floor->ratio,
                       fmt::format("{}/{}", r.floor->kept, r.floor->slices), name_of(r.floor->where),
                       r.floor->conclusive ? "" : ", inconclusive");
        } else {
            fmt::print("  {:>10}", "-");
        }
    }
    fmt::print("\n");
    std::fflush(stdout);
}

std::string json_line(const perf_setting& s, const perf_row& r) {
    // To four digits: what is behind them is noise.
    const auto rounded = [](double v) {
        if (v == 0) return v;
        const double scale = std::pow(10.0, 3 - std::floor(std::log10(std::fabs(v))));
        return std::round(v * scale) / scale;
    };
    nlohmann::ordered_json line{{"test", name_of(s.test)}, {"provider", s.provider}, {"op", name_of(s.op)},
                                {"size", r.size},          {"count", r.count},       {"threads", name_of(s.threads)}};
    if (s.checked) line["checked"] = true;
    switch (s.test) {
        case quantity::latency:
            line["p50_ns"] = rounded(r.p50_ns);
            line["p99_ns"] = rounded(r.p99_ns);
            line["p999_ns"] = rounded(r.p999_ns);
            line["min_ns"] = rounded(r.min_ns);
            break;
        case quantity::rate: line["Mmsgs"] = rounded(r.figure); break;
        case quantity::bandwidth: line["MBps"] = rounded(r.figure); break;
    }
    if (s.test != quantity::latency) line["window"] = s.window;
    if (r.floor) {
        line["floor"] = rounded(r.floor->figure);
        line["ratio"] = rounded(r.floor->ratio);
        line["kept"] = r.floor->kept;
        line["slices"] = r.floor->slices;
        line["class"] = name_of(r.floor->where);
        line["probe_ns"] = rounded(r.floor->probe_ns);
        line["floor_by"] = name_of(r.floor->winner);
        line["verdict"] = r.floor->conclusive ? "ok" : "inconclusive";
    } else if (s.where) {
        line["class"] = name_of(*s.where);
    }
    return line.dump();
}

}  // namespace weft::tool
