// weft perf --local: both sides on this host, the other one a child that lives as long as the run.
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli.hpp"
#include "floor/cores.hpp"
#include "floor/probe.hpp"
#include "floor/responder.hpp"
#include "perf_flow.hpp"
#include "perf_session.hpp"

namespace weft::tool {
namespace {

failure refused(const char* what, int error) {
    return {errc::system_error, error, fmt::format("cannot {}: {}", what, std::strerror(error))};
}

result<core_pair> choose(const perf_options& o) {
    if (o.processors.size() == 2) return core_pair{o.processors[0], o.processors[1], {}};
    const auto allowed = allowed_processors();
    if (!allowed) return allowed.error();
    return choose_cores(*allowed);
}

// Buffers of the floor, which are not the library's business: of their own.
class floor_memory {
  public:
    explicit floor_memory(std::uint64_t size) : out_(size), in_(size) {}
    floor_buffers view() noexcept { return {out_, in_}; }

  private:
    std::vector<std::byte> out_, in_;
};

std::uint64_t floor_memory_size(const perf_options& o) {
    return o.with_floor ? std::max<std::uint64_t>(o.sizes.back(), buffer_size_min) : buffer_size_min;
}

// ---- the other side: a child --------------------------------------------------------------------------

// Opens everything and hands the address over; or the reason why not, marked, for the parent to say.
constexpr char failure_mark = '!';

struct responder_parts {
    std::unique_ptr<fabric> fab;
    std::unique_ptr<watch> patience;
    std::unique_ptr<perf_server> server;
};

result<responder_parts> start_responder(const perf_options& o, partner_link& link, const core_pair& cores) {
    if (auto pinned = pin_to(cores.responder); !pinned) return std::move(pinned).error();
    // The parent's fabric has the same settings and complains about them for both.
    const auto sink = [](log_level level, std::string_view subsystem, std::string_view text) {
        if (subsystem != "settings" && subsystem != "plugin") print_log(level, subsystem, text);
    };
    auto fab = fabric::open({.settings = {}, .sink = sink, .load_plugins = true});
    if (!fab) return std::move(fab).error();
    responder_parts parts;
    parts.fab = std::make_unique<fabric>(*std::move(fab));
    parts.patience = std::make_unique<watch>(cores.is_shared() ? core_use::shared : core_use::apart);
    parts.patience->look_after(link.partner(), role::responder);
    auto server = perf_server::open(*parts.fab, o.provider, *parts.patience, link.clock());
    if (!server) return std::move(server).error();
    parts.server = *std::move(server);
    return parts;
}

result<void> serve_parent(const perf_options& o, partner_link& link, responder_parts& parts) {
    floor_memory memory(floor_memory_size(o));
    return serve(link, memory.view(), [&](std::uint64_t) -> result<void> {
        while (true) {
            switch (parts.server->serve_next()) {
                case perf_server::event::nothing:
                    if (!parts.patience->idle()) return parts.patience->why();
                    break;
                case perf_server::event::failed: return parts.patience->why();
                default: return {};
            }
        }
    });
}

// One write: less than a pipe takes at once.
bool tell_parent(int to, std::string_view text) {
    const bool told = ::write(to, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    ::close(to);
    return told;
}

int run_child(const perf_options& o, partner_link& link, const core_pair& cores, int report_to, pid_t parent) {
    // Ends the waits that do not look for themselves; those that do notice and say so.
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    link.adopt(role::responder, parent);
    auto parts = start_responder(o, link, cores);
    if (!parts) {
        tell_parent(report_to, failure_mark + parts.error().text);
        return exit_negative;
    }
    if (!tell_parent(report_to, parts->server->address_text())) return exit_negative;
    const auto done = serve_parent(o, link, *parts);
    if (done) return exit_fine;
    // What the parent saw or caused itself it has said.
    if (getppid() != parent) fmt::print(stderr, "weft: the process that measured has died; the other side ends, too\n");
    return exit_negative;
}

// ---- this side ----------------------------------------------------------------------------------------

// Reads until the child has said its address and closed its end.
result<std::string> read_address(int from) {
    std::string text;
    char room[256];
    while (true) {
        const ssize_t n = ::read(from, room, sizeof room);
        if (n < 0 && errno == EINTR) {
            if (interrupted()) return failure{errc::canceled, 0, "interrupted"};
            continue;
        }
        if (n < 0) return refused("hear from the other process", errno);
        if (n == 0) break;
        text.append(room, static_cast<std::size_t>(n));
    }
    if (text.empty()) return failure{errc::peer_gone, 0, "the other process died before it said its address"};
    if (text.front() == failure_mark) return failure{errc::system_error, 0, text.substr(1)};
    return text;
}

int initiate(const perf_options& o, partner_link& link, const core_pair& cores, int address_from) {
    const auto fail = [](const failure& f) {
        print_failure(f);
        return exit_negative;
    };
    const auto fab = open_fabric();
    if (!fab) return fail(fab.error());
    const auto address = read_address(address_from);
    if (!address) return fail(address.error());
    if (auto pinned = pin_to(cores.initiator); !pinned) return fail(pinned.error());
    watch w(cores.is_shared() ? core_use::shared : core_use::apart);
    w.look_after(link.partner(), role::initiator);
    auto session = perf_client_session::open(*fab, *address, terms_of(o), w, link.clock());
    if (!session) return fail(session.error());
    const auto greeted = call_responder(link, 0, [&] { return (*session)->greet(cores.initiator); });
    if (!greeted) return fail(greeted.error());
    const auto run = [&](const slice_order& order, histogram& times) {
        return call_responder(link, 0, [&] { return (*session)->run(order, times); });
    };
    // First contact; only then is it known how the two reach each other.
    const auto times = std::make_unique<histogram>();
    if (const auto met = run({.test = o.test, .size = o.sizes.front(), .count = 2, .first = 0, .window = 1}, *times);
        !met)
        return fail(met.error());
    const auto probed = probe(link);
    if (!probed) return fail(probed.error());

    perf_setting setting{.test = o.test,
                         .op = o.op,
                         .threads = o.threads,
                         .checked = o.check == checking::on,
                         .window = window_of(o),
                         .provider = (*session)->provider(),
                         .mechanism = {},
                         .processors = {cores.initiator, cores.responder},
                         .where = classify(*probed),
                         .probe_ns = *probed};
    setting.mechanism = (*session)->mechanism();
    floor_memory memory(floor_memory_size(o));
    const perf_bench bench{.run = run, .terms = (*session)->terms(), .link = &link, .buffers = memory.view()};
    const int status = run_flow(o, setting, bench);
    if (!link.broken()) {
        const auto stopped = stop_responder(link);
        if (!stopped) return fail(stopped.error());
    }
    return status;
}

// Waits for the child, which ends by itself once the link is broken or it was told to stop; a stopped or stuck one
// is ended.
void reap(pid_t child) {
    constexpr int patience_ms = 2000;
    for (int ms = 0; ms < patience_ms; ++ms) {
        const pid_t gone = waitpid(child, nullptr, WNOHANG);
        if (gone == child || (gone < 0 && errno != EINTR)) return;
        const timespec nap{.tv_sec = 0, .tv_nsec = 1'000'000};
        nanosleep(&nap, nullptr);
    }
    kill(child, SIGKILL);
    while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
}

}  // namespace

int perf_local(const perf_options& o) {
    const auto fail = [](const failure& f) {
        print_failure(f);
        return exit_negative;
    };
    const auto cores = choose(o);
    if (!cores) return fail(cores.error());
    if (!cores->note.empty()) fmt::print(stderr, "weft: note: {}\n", cores->note);

    auto link = partner_link::create(cycle_clock::calibrate(),
                                     {.cores = cores->is_shared() ? core_use::shared : core_use::apart});
    if (!link) return fail(link.error());
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return fail(refused("make a pipe", errno));
    std::fflush(nullptr);
    const pid_t parent = getpid();
    const pid_t other = fork();
    if (other < 0) {
        const int error = errno;
        ::close(ends[0]);
        ::close(ends[1]);
        return fail(refused("start the other process", error));
    }
    if (other == 0) {
        ::close(ends[0]);
        const int status = run_child(o, *link, *cores, ends[1], parent);
        std::fflush(nullptr);
        _exit(status);
    }
    ::close(ends[1]);
    link->adopt(role::initiator, other);
    const int status = initiate(o, *link, *cores, ends[0]);
    ::close(ends[0]);
    if (!link->broken() && status != exit_fine) link->abandon();
    reap(other);
    return status;
}

}  // namespace weft::tool
