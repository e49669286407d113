#include "perf_flow.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "chart.hpp"
#include "cli.hpp"
#include "html.hpp"
#include "sizes.hpp"

namespace weft::tool {
namespace {

// Long enough that beginning and end do not count, short enough that the processors mostly stay where they are.
constexpr std::uint64_t slice_ns = 4'000'000;
// Time stamps of a slice are kept until its end: half a megabyte.
constexpr std::uint64_t count_max_latency = 65'536;
constexpr std::uint64_t count_max_stream = std::uint64_t{1} << 22;

// One line on the terminal, rewritten; nothing where standard error is no terminal.
class progress_line {
  public:
    progress_line(quantity test, bool wanted) : test_(test), shown_(wanted && isatty(STDERR_FILENO) == 1) {}
    ~progress_line() { clear(); }
    progress_line(const progress_line&) = delete;
    progress_line& operator=(const progress_line&) = delete;

    void update(std::uint64_t size, std::uint64_t slices, double latest) {
        const std::uint64_t now = base::now_ns();
        if (!shown_ || now - last_ns_ < 100'000'000) return;  // ten a second are smooth enough
        last_ns_ = now;
        fmt::print(stderr, "\r\033[K{} of {}: {} slices, now {}", name_of(test_), size_text(size), slices,
                   figure_text(test_, latest));
        std::fflush(stderr);
    }
    void clear() {
        if (last_ns_ == 0) return;
        fmt::print(stderr, "\r\033[K");
        std::fflush(stderr);
        last_ns_ = 0;
    }

  private:
    quantity test_;
    bool shown_;
    std::uint64_t last_ns_ = 0;
};

class size_run {
  public:
    size_run(const perf_options& o, const perf_bench& b, std::uint64_t size, progress_line& progress)
        : options_(o), bench_(b), size_(size), progress_(progress), times_(std::make_unique<histogram>()) {}

    result<perf_row> measure() {
        if (auto done = warm_up(); !done) return std::move(done).error();
        return options_.with_floor && has_floor() ? with_floor() : alone();
    }

  private:
    bool has_floor() const noexcept { return options_.test != quantity::rate || size_ <= rate_size_max; }

    // The floor's unit.
    double figure_of(double of_slice) const noexcept {
        switch (options_.test) {
            case quantity::latency: return of_slice;
            case quantity::rate: return of_slice / 1e6;
            case quantity::bandwidth: return of_slice * static_cast<double>(size_) / 1e6;
        }
        return of_slice;
    }

    result<double> slice(std::uint64_t count, histogram& times) {
        const slice_order order{.test = options_.test,
                                .size = size_,
                                .count = count,
                                .first = first_,
                                .window = window_for(size_, bench_.terms)};
        const std::uint64_t start = base::now_ns();
        auto figure = bench_.run(order, times);
        if (!figure) return figure;
        each_ns_ = static_cast<double>(base::now_ns() - start) / static_cast<double>(count);
        first_ += count;
        if (interrupted()) return failure{errc::canceled, 0, "interrupted"};
        progress_.update(size_, ++slices_, figure_of(*figure));
        return figure_of(*figure);
    }

    // As many as take this long, judged by the latest slice.
    std::uint64_t count_for(std::uint64_t duration_ns) const noexcept {
        const std::uint64_t most = options_.test == quantity::latency ? count_max_latency : count_max_stream;
        const double fit = static_cast<double>(duration_ns) / std::max(each_ns_, 1.0);
        return std::clamp<std::uint64_t>(static_cast<std::uint64_t>(fit), 2, most);
    }

    // First contact, first touch of memory, and how long one takes: growing until a slice's length is known.
    result<void> warm_up() {
        std::uint64_t count = 4;
        for (int round = 0; round < 3; ++round) {
            if (auto figure = slice(count, *times_); !figure) return std::move(figure).error();
            count = std::min(count * 16, count_for(slice_ns));
        }
        times_->clear();
        first_ = slices_ = 0;
        return {};
    }

    perf_row row_of(const histogram& times, double figure, std::uint64_t count) const {
        perf_row row;
        row.size = size_;
        row.count = count;
        row.figure = figure;
        if (options_.test == quantity::latency) {
            row.min_ns = static_cast<double>(times.min());
            row.p50_ns = row.figure = static_cast<double>(times.percentile(50));
            row.p99_ns = static_cast<double>(times.percentile(99));
            row.p999_ns = static_cast<double>(times.percentile(99.9));
        }
        return row;
    }

    result<perf_row> alone() {
        std::vector<double> figures;
        const std::uint64_t start = base::now_ns();
        const double most_ns = options_.seconds * 1e9;
        std::uint64_t count = 0;
        do {
            std::uint64_t next = count_for(slice_ns);
            if (options_.iterations != 0) next = std::min(next, options_.iterations - count);
            auto figure = slice(next, *times_);
            if (!figure) return std::move(figure).error();
            figures.push_back(*figure);
            count += next;
        } while (options_.iterations != 0 ? count < options_.iterations
                                          : static_cast<double>(base::now_ns() - start) < most_ns);
        return row_of(*times_, median(figures), count);
    }

    result<perf_row> with_floor() {
        const std::size_t floor_size = std::max<std::uint64_t>(size_, 1);  // the floor moves at least one byte
        auto plan = tune(*bench_.link, bench_.buffers, options_.test, floor_size);
        if (!plan) return std::move(plan).error();
        const bool has_times = options_.test == quantity::latency;
        const auto test = [this, has_times](std::uint64_t duration_ns, histogram& times) {
            const std::uint64_t count = count_for(duration_ns);
            auto figure = slice(count, times);
            // Without times of single messages, their number alone: the report merges it from the kept slices.
            if (!has_times) times.record(0, count);
            return figure;
        };
        const auto report = run_slices(slices_over(*bench_.link, bench_.buffers, *plan, test));
        if (!report) return report.error();
        perf_row row = row_of(report->times, report->test, report->times.count());
        row.floor = floor_row{.figure = report->floor,
                              .ratio = report->ratio,
                              .kept = report->kept,
                              .slices = report->slices,
                              .where = report->where,
                              .probe_ns = report->probe_ns,
                              .conclusive = report->conclusive,
                              .winner = report->attached_won * 2 > report->kept ? mechanism::attach : plan->copy.how};
        return row;
    }

    const perf_options& options_;
    const perf_bench& bench_;
    std::uint64_t size_;
    progress_line& progress_;
    std::unique_ptr<histogram> times_;
    double each_ns_ = 1000;
    std::uint64_t first_ = 0;
    std::uint64_t slices_ = 0;
};

}  // namespace

work_terms terms_of(const perf_options& o) {
    work_terms terms{.provider = o.provider,
                     .op = o.op,
                     .threads = o.threads,
                     .check = o.check,
                     .size_max = o.sizes.back(),
                     .memory_size = 0,
                     .window_max = window_of(o)};
    terms.memory_size = memory_size_for(o.sizes, terms);
    return terms;
}

int run_flow(const perf_options& options, perf_setting setting, const perf_bench& bench) {
    std::vector<perf_row> rows;
    std::optional<failure> trouble;
    const table_printer table(setting, options.with_floor);
    if (!options.json) table.header();
    {
        progress_line progress(options.test, true);
        for (const std::uint64_t size : options.sizes) {
            auto row = size_run(options, bench, size, progress).measure();
            progress.clear();
            if (!row) {
                trouble = row.error();
                break;
            }
            if (options.json) {
                fmt::print("{}\n", json_line(setting, *row));
                std::fflush(stdout);
            } else {
                table.row(*row);
            }
            rows.push_back(*row);
        }
    }
    if (!options.json && options.chart && rows.size() > 1) fmt::print("\n{}", terminal_chart(options.test, rows));
    int status = exit_fine;
    if (!options.html.empty() && !rows.empty()) {
        if (auto written = write_html(options.html, setting, rows); !written) {
            print_failure(written.error());
            status = exit_negative;
        } else if (!options.json) {
            fmt::print("\nwritten to {}\n", options.html);
        }
    }
    if (trouble) {
        print_failure(*trouble);
        status = exit_negative;
    }
    return status;
}

}  // namespace weft::tool
