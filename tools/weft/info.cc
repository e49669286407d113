// weft info: what this host offers for given needs, best first, and why the rest is not among it.
#include <array>
#include <memory>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli.hpp"
#include "sizes.hpp"

namespace weft::tool {
namespace {

struct raw_options {
    std::string provider, prefer, capabilities = "msg,tagged", threads = "one", order = "per-peer",
                                  delivery = "reliable", progress = "caller";
    std::string message_size, inject_size, receives, pieces;
    bool remote_data = false, wait_fd = false, verbose = false, json = false;
};

constexpr std::string_view examples = R"(
Examples:
  weft info                                  everything, for ordinary needs
  weft info -v                               with thresholds and details
  weft info --provider shm --message-size 8G
  weft info --capabilities tagged --threads any --json

Exit status: 0 if there is an offer, 1 if there is none.
)";

struct ability {
    std::string_view name;
    capset bits;
};
constexpr std::array<ability, 4> abilities{
    {{"msg", caps::msg}, {"tagged", caps::tagged}, {"rma", caps::rma}, {"atomics", caps::atomics}}};
constexpr std::array<std::string_view, 4> ability_names{"msg", "tagged", "rma", "atomics"};

capset abilities_of(std::string_view list) {
    capset wanted;
    while (true) {
        const std::size_t comma = list.find(',');
        const auto name = one_of("--capabilities", list.substr(0, comma), ability_names);
        for (const ability& a : abilities)
            if (a.name == name) wanted = wanted | a.bits;
        if (comma == std::string_view::npos) return wanted;
        list.remove_prefix(comma + 1);
    }
}

std::string text_of(capset set) {
    std::string text;
    for (const ability& a : abilities)
        if (set.has(a.bits)) text += (text.empty() ? "" : ",") + std::string(a.name);
    return text;
}

void read_size(std::string_view what, const std::string& text, std::uint64_t& into) {
    if (text.empty()) return;
    const auto size = parse_size(text);
    if (!size) throw usage_error(fmt::format("{}: {}", what, size.error().text));
    into = *size;
}

needs needs_of(const raw_options& raw) {
    needs want;
    want.provider = raw.provider;
    want.threads = one_of("--threads", raw.threads, std::array<std::string_view, 2>{"one", "any"}) == "one"
                       ? threading::one_thread
                       : threading::any_thread;
    want.order = one_of("--order", raw.order, std::array<std::string_view, 2>{"none", "per-peer"}) == "none"
                     ? ordering::none
                     : ordering::per_peer;
    want.deliver =
        one_of("--delivery", raw.delivery, std::array<std::string_view, 2>{"reliable", "unreliable"}) == "reliable"
            ? reliability::reliable
            : reliability::unreliable;
    want.advance =
        one_of("--progress", raw.progress, std::array<std::string_view, 2>{"caller", "autonomous"}) == "caller"
            ? progress::by_caller
            : progress::autonomous;
    read_size("--message-size", raw.message_size, want.message_size_min);
    read_size("--inject-size", raw.inject_size, want.inject_size_min);
    read_size("--posted-receives", raw.receives, want.posted_receives_min);
    read_size("--iov-count", raw.pieces, want.iov_count_min);
    want.remote_data = raw.remote_data;
    want.wait_fd = raw.wait_fd;
    return want;
}

void print_json(const discovery& found) {
    for (const offer& o : found.offers) {
        nlohmann::ordered_json line{{"kind", "offer"},
                                    {"provider", o.provider},
                                    {"device", o.device},
                                    {"reach", o.reach},
                                    {"why", o.why},
                                    {"rank", o.rank},
                                    {"capabilities", text_of(o.abilities)},
                                    {"inline_max", o.inline_max},
                                    {"eager_max", o.eager_max},
                                    {"message_size_max", o.message_size_max},
                                    {"inject_size_max", o.inject_size_max},
                                    {"posted_receives_max", o.posted_receives_max},
                                    {"iov_count_max", o.iov_count_max}};
        nlohmann::ordered_json details = nlohmann::ordered_json::object();
        for (const auto& [name, value] : o.details) details[name] = value;
        line["details"] = std::move(details);
        fmt::print("{}\n", line.dump());
    }
    for (const refusal& r : found.refusals) {
        const nlohmann::ordered_json line{{"kind", "refusal"},      {"provider", r.provider}, {"device", r.device},
                                          {"property", r.property}, {"wanted", r.wanted},     {"offered", r.offered},
                                          {"remedy", r.remedy}};
        fmt::print("{}\n", line.dump());
    }
}

void print_offer(const offer& o, bool verbose) {
    fmt::print("{}{}: {}; {}\n", o.provider, o.device.empty() ? "" : " (" + o.device + ")", o.reach, o.why);
    if (!verbose) return;
    const auto line = [](std::string_view name, std::string_view value) { fmt::print("    {:<20} {}\n", name, value); };
    line("capabilities", text_of(o.abilities));
    line("rank", std::to_string(o.rank));
    line("in one packet", "up to " + size_text(o.inline_max));
    line("buffered", "up to " + size_text(o.eager_max) + ", above by rendezvous");
    line("largest message", size_text(o.message_size_max));
    line("largest inject", size_text(o.inject_size_max));
    line("posted receives", std::to_string(o.posted_receives_max));
    line("pieces per call", std::to_string(o.iov_count_max));
    for (const auto& [name, value] : o.details) line(name, value);
}

void print_text(const discovery& found, bool verbose) {
    for (const offer& o : found.offers) print_offer(o, verbose);
    if (found.offers.empty()) fmt::print("nothing on this host meets these needs\n");
    if (found.refusals.empty()) return;
    fmt::print("{}not offered:\n", found.offers.empty() ? "" : "\n");
    for (const refusal& r : found.refusals) fmt::print("  {}\n", r.text());
}

int run(const raw_options& raw) {
    const capset wanted = abilities_of(raw.capabilities);
    const needs want = needs_of(raw);
    const auto fab = open_fabric();
    if (!fab) {
        print_failure(fab.error());
        return exit_negative;
    }
    const discovery found = fab->offers(wanted, want, {.provider = raw.prefer});
    raw.json ? print_json(found) : print_text(found, raw.verbose);
    return found.offers.empty() ? exit_negative : exit_fine;
}

}  // namespace

action add_info(CLI::App& root) {
    const auto raw = std::make_shared<raw_options>();
    CLI::App* app = root.add_subcommand("info", "Show what this host offers, and what it does not and why");
    app->footer(std::string(examples));
    app->add_flag("-v,--verbose", raw->verbose, "Thresholds and details of each offer");
    app->add_flag("--json", raw->json, "One JSON object per line");
    app->add_option("--provider", raw->provider, "Only this provider");
    app->add_option("--prefer", raw->prefer, "This provider first");
    app->add_option("--capabilities", raw->capabilities, "Of msg, tagged, rma, atomics")->capture_default_str();
    app->add_option("--message-size", raw->message_size, "Largest message that must fit (1M)");
    app->add_option("--inject-size", raw->inject_size, "Largest message sent without keeping the buffer (16)");
    app->add_option("--posted-receives", raw->receives, "Receives that must be postable at once (1024)");
    app->add_option("--iov-count", raw->pieces, "Pieces per vectored call (4)");
    app->add_option("--threads", raw->threads, "one or any")->capture_default_str();
    app->add_option("--order", raw->order, "none or per-peer")->capture_default_str();
    app->add_option("--delivery", raw->delivery, "reliable or unreliable")->capture_default_str();
    app->add_option("--progress", raw->progress, "caller or autonomous")->capture_default_str();
    app->add_flag("--remote-data", raw->remote_data, "Eight bytes beside each message");
    app->add_flag("--wait-fd", raw->wait_fd, "Completions can be waited for through a descriptor");
    return [raw] { return run(*raw); };
}

}  // namespace weft::tool
