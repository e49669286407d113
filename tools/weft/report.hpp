// What a measurement came to, and its forms: a table, one JSON object per line.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "floor/floor.hpp"
#include "floor/probe.hpp"
#include "perf_options.hpp"

namespace weft::tool {

// Beside the floor; all figures from kept slices only.
struct floor_row {
    double figure = 0;  // unit of the row's
    double ratio = 0;   // ours over the floor's: above 1 is slower for latency, faster for rate and bandwidth
    std::size_t kept = 0, slices = 0;
    placement where = placement::one_cache;
    double probe_ns = 0;
    bool conclusive = false;
    mechanism winner = mechanism::blocks;
};

struct perf_row {
    std::uint64_t size = 0;
    std::uint64_t count = 0;   // round trips or messages measured
    double figure = 0;  // latency: ns, the median; rate: millions per second; bandwidth: 10^6 bytes per second
    double min_ns = 0, p50_ns = 0, p99_ns = 0, p999_ns = 0;  // latency: half round trips
    std::optional<floor_row> floor;
};

struct perf_setting {
    quantity test = quantity::latency;
    family op = family::send;
    threading threads = threading::one_thread;
    bool checked = false;
    std::uint32_t window = 1;
    std::string provider, mechanism;
    std::vector<int> processors;  // ours, the other side's (if known)
    std::optional<placement> where;  // at the beginning, where a probe was possible
    double probe_ns = 0;
};

// "104 ns", "1.32 us"; "8.21 M/s"; "12.3 GB/s".
std::string figure_text(quantity q, double figure);
std::string ns_text(double ns);

// "latency over shm: untagged, one thread, processors 0 and 1 (one cache, probe 62 ns)"
std::string title_of(const perf_setting& setting);

class table_printer {
  public:
    table_printer(const perf_setting& setting, bool with_floor);
    void header() const;
    void row(const perf_row& row) const;

  private:
    perf_setting setting_;
    bool with_floor_;
};

std::string json_line(const perf_setting& setting, const perf_row& row);

}  // namespace weft::tool
