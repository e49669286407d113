// weft perf: the command line and its checks.
#include <unistd.h>

#include <array>
#include <charconv>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli.hpp"
#include "floor/cores.hpp"
#include "perf_options.hpp"
#include "perf_watch.hpp"
#include "perf_work.hpp"
#include "sizes.hpp"

namespace weft::tool {
namespace {

// As typed.
struct raw_options {
    std::string test, target, provider, op = "send", sizes, threads = "one", window, iterations, processors, html;
    double seconds = 0;
    bool local = false, listen = false, once = false, check = false, with_floor = false, json = false, no_chart = false;
};

constexpr std::string_view examples = R"(
Examples:
  weft perf latency --local                          8 B to 4 MiB between two processes of this host
  weft perf bandwidth --local --sizes 64K --floor    beside the floor of this machine
  weft perf rate --local --sizes 8 --op tagged --json
  weft perf latency --local --sizes 0:1M --check     every byte of every transfer is looked at
  weft perf --listen                                 prints its address and serves clients until interrupted
  weft perf latency shm://ADDRESS                    a client of the above

Sizes: 64, 4K, 1M; lists 8,64,4K; ranges by doubling 1:4M.
)";

constexpr double seconds_usual = 0.1;
constexpr double seconds_max = 3600;

std::uint64_t count_of(std::string_view what, const std::string& text, std::uint64_t most) {
    const auto number = parse_size(text);
    if (!number || *number == 0 || *number > most)
        throw usage_error(fmt::format("{} cannot be '{}': it is a number from 1 to {}", what, text, most));
    return *number;
}

// A typo of a test is likelier than an address without a colon.
void read_test_and_target(const raw_options& raw, perf_options& o) {
    static constexpr std::array<std::string_view, 3> tests{"latency", "bandwidth", "rate"};
    if (raw.test.empty()) {
        if (!raw.listen) throw usage_error("which test? one of latency, bandwidth, rate");
        return;
    }
    const auto test = one_of("the test", raw.test, tests);
    o.test = test == "latency" ? quantity::latency : test == "rate" ? quantity::rate : quantity::bandwidth;
    if (raw.target.empty()) return;
    if (raw.target.find("://") == std::string::npos)
        throw usage_error(fmt::format("'{}' is not an address; addresses look like shm://...", raw.target));
}

side side_of(const raw_options& raw) {
    if (raw.local + raw.listen + !raw.target.empty() > 1)
        throw usage_error("choose one of --local, --listen and ADDRESS");
    if (!raw.local && !raw.listen && raw.target.empty())
        throw usage_error("where is the other side? add --local, or the address that 'weft perf --listen' prints");
    return raw.local ? side::local : raw.listen ? side::listen : side::client;
}

std::vector<std::uint64_t> usual_sizes(quantity test) {
    constexpr std::uint64_t kib = 1024, mib = 1024 * kib;
    switch (test) {
        case quantity::latency: return doubling(8, 4 * mib);
        case quantity::rate: return doubling(8, 4 * kib);  // beyond, bandwidth is what limits
        case quantity::bandwidth: return doubling(1 * kib, 4 * mib);
    }
    return {};
}

std::vector<int> processors_of(const std::string& text) {
    std::vector<int> processors;
    std::string_view rest = text;
    while (!rest.empty()) {
        int number = -1;
        const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
        if (error != std::errc{} || number < 0) break;
        processors.push_back(number);
        rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
        if (rest.empty() || rest.front() != ',') break;
        rest.remove_prefix(1);
        if (rest.empty()) rest = ",";
    }
    if (!rest.empty() || processors.size() > 2)
        throw usage_error(fmt::format("--cpu cannot be '{}': it is one processor number, or two as in 0,1", text));
    const auto allowed = allowed_processors();
    if (!allowed) return processors;
    for (const int wanted : processors) {
        const auto is_it = [wanted](const processor& p) { return p.id == wanted; };
        if (std::none_of(allowed->begin(), allowed->end(), is_it))
            throw usage_error(
                fmt::format("--cpu cannot be '{}': this process may not run on processor {}", text, wanted));
    }
    return processors;
}

void check_html(const std::string& file) {
    const auto folder = std::filesystem::path(file).parent_path();
    const std::string where = folder.empty() ? "." : folder.string();
    if (::access(where.c_str(), W_OK) != 0) throw usage_error(fmt::format("--html cannot write into '{}'", where));
}

perf_options checked(const raw_options& raw) {
    perf_options o;
    read_test_and_target(raw, o);
    o.where = side_of(raw);
    o.target = raw.target;
    o.provider = raw.provider;
    static constexpr std::array<std::string_view, 2> ops{"send", "tagged"};
    o.op = one_of("--op", raw.op, ops) == "send" ? family::send : family::tagged;
    static constexpr std::array<std::string_view, 2> threads{"one", "any"};
    o.threads = one_of("--threads", raw.threads, threads) == "one" ? threading::one_thread : threading::any_thread;
    o.sizes = usual_sizes(o.test);
    if (!raw.sizes.empty()) {
        auto sizes = parse_sizes(raw.sizes);
        if (!sizes) throw usage_error("--sizes: " + sizes.error().text);
        o.sizes = *std::move(sizes);
    }
    o.check = raw.check ? checking::on : checking::off;
    if (!raw.window.empty()) o.window = static_cast<std::uint32_t>(count_of("--window", raw.window, window_max));
    if (!raw.iterations.empty()) o.iterations = count_of("--iterations", raw.iterations, std::uint64_t{1} << 40);
    o.seconds = raw.seconds == 0 ? seconds_usual : raw.seconds;
    if (!(o.seconds > 0 && o.seconds <= seconds_max))
        throw usage_error(fmt::format("--seconds is a number above 0, up to {}", seconds_max));
    if (!raw.iterations.empty() && raw.seconds != 0) throw usage_error("choose one of --iterations and --seconds");
    o.processors = raw.processors.empty() ? std::vector<int>{} : processors_of(raw.processors);
    if (o.where == side::local && o.processors.size() == 1)
        throw usage_error("--cpu needs two processors with --local, as in 0,1");
    if (raw.with_floor && o.where != side::local)
        throw usage_error("--floor needs --local: the floor is measured between two processes of this run");
    if (raw.with_floor && (!raw.iterations.empty() || raw.seconds != 0))
        throw usage_error("--floor decides by itself how long to measure: leave out --iterations and --seconds");
    if (raw.once && o.where != side::listen) throw usage_error("--once belongs to --listen");
    if (!raw.html.empty()) check_html(raw.html);
    o.with_floor = raw.with_floor;
    o.json = raw.json;
    o.chart = !raw.no_chart;
    o.once = raw.once;
    o.html = raw.html;
    return o;
}

int run(const raw_options& raw) {
    const perf_options o = checked(raw);
    install_signal_handlers();
    switch (o.where) {
        case side::local: return perf_local(o);
        case side::listen: return perf_listen(o);
        case side::client: return perf_client(o);
    }
    return exit_usage;
}

}  // namespace

action add_perf(CLI::App& root) {
    const auto raw = std::make_shared<raw_options>();
    CLI::App* app = root.add_subcommand("perf", "Measure latency, bandwidth and message rate");
    app->footer(std::string(examples));
    app->add_option("test", raw->test, "latency, bandwidth or rate (with --listen: none)");
    app->add_option("address", raw->target, "Address of a listening 'weft perf'");
    app->add_flag("--local", raw->local, "Start the other side, too, pinned to another core");
    app->add_flag("--listen", raw->listen, "Be the other side: print the address, serve clients one after the other");
    app->add_flag("--once", raw->once, "With --listen: end after one client");
    app->add_option("--provider", raw->provider, "Which provider (default: the best)");
    app->add_option("--op", raw->op, "send (untagged) or tagged");
    app->add_option("--sizes", raw->sizes, "Message sizes");
    app->add_option("--iterations", raw->iterations, "Round trips or messages per size");
    app->add_option("--seconds", raw->seconds, "Time per size (default 0.1)");
    app->add_option("--window", raw->window, "Messages in flight (rate 64, bandwidth 16)");
    app->add_option("--threads", raw->threads, "one or any: what the endpoint is opened for");
    app->add_flag("--check", raw->check, "Fill and verify every transfer");
    app->add_flag("--floor", raw->with_floor, "Also measure what this machine's memory can do, and the ratio");
    app->add_option("--cpu", raw->processors, "Processors to pin to: N,M");
    app->add_flag("--json", raw->json, "One JSON object per line");
    app->add_option("--html", raw->html, "Write a report with charts to this file");
    app->add_flag("--no-chart", raw->no_chart, "No bars below the table");
    return [raw] { return run(*raw); };
}

}  // namespace weft::tool
