// weft perf --listen and weft perf ADDRESS: the two sides started by hand.
#include <time.h>

#include <memory>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "cli.hpp"
#include "floor/cores.hpp"
#include "perf_flow.hpp"
#include "perf_session.hpp"

namespace weft::tool {
namespace {

int fail(const failure& f) {
    print_failure(f);
    return exit_negative;
}

// Pins to the wanted processor, or to one that the other side does not use; answers which, or -1 for not pinned.
int pin(const perf_options& o, int taken) {
    int wanted = -1;
    if (!o.processors.empty()) {
        wanted = o.processors.front();
    } else if (const auto allowed = allowed_processors()) {
        const core_pair pair = choose_cores(*allowed);
        wanted = taken == pair.initiator ? pair.responder : pair.initiator;
    }
    if (wanted < 0) return -1;
    if (const auto pinned = pin_to(wanted); !pinned) {
        print_failure(pinned.error());
        return -1;
    }
    return wanted;
}

core_use sharing() {
    const auto allowed = allowed_processors();
    return allowed && allowed->size() == 1 ? core_use::shared : core_use::apart;
}

// Serves until interrupted. Between clients it sleeps a millisecond at a time: nobody measures the first contact.
int serve_clients(const perf_options& o, perf_server& server, watch& w) {
    while (true) {
        if (interrupted()) return exit_fine;
        switch (server.serve_next()) {
            case perf_server::event::nothing: {
                const timespec nap{.tv_sec = 0, .tv_nsec = 1'000'000};
                nanosleep(&nap, nullptr);
                break;
            }
            case perf_server::event::greeted:
                pin(o, server.client_processor());
                w.be_patient(false);
                fmt::print(stderr, "weft: serving {}\n", server.client_text());
                break;
            case perf_server::event::served: break;
            case perf_server::event::refused: break;
            case perf_server::event::left:
                fmt::print(stderr, "weft: the client is done\n");
                if (o.once) return exit_fine;
                break;
            case perf_server::event::failed:
                if (interrupted()) return exit_fine;
                fmt::print(stderr, "weft: the client's run ended early: {}\n", w.why().text);
                w.forget();
                if (o.once) return exit_negative;
                break;
        }
    }
}

}  // namespace

int perf_listen(const perf_options& o) {
    const auto fab = open_fabric();
    if (!fab) return fail(fab.error());
    watch w(sharing());
    auto server = perf_server::open(*fab, o.provider, w, cycle_clock::calibrate());
    if (!server) return fail(server.error());
    fmt::print("{}\n", (*server)->address_text());
    std::fflush(stdout);
    return serve_clients(o, **server, w);
}

int perf_client(const perf_options& o) {
    const auto fab = open_fabric();
    if (!fab) return fail(fab.error());
    watch w(sharing());
    const int processor = pin(o, -1);
    auto session = perf_client_session::open(*fab, o.target, terms_of(o), w, cycle_clock::calibrate());
    if (!session) return fail(session.error());
    if (const auto greeted = (*session)->greet(processor); !greeted) return fail(greeted.error());

    const auto run = [&](const slice_order& order, histogram& times) { return (*session)->run(order, times); };
    // First contact; only then is it known how the two reach each other.
    const auto times = std::make_unique<histogram>();
    if (const auto met = run({.test = o.test, .size = o.sizes.front(), .count = 2, .first = 0, .window = 1}, *times);
        !met)
        return fail(met.error());

    perf_setting setting{.test = o.test,
                         .op = o.op,
                         .threads = o.threads,
                         .checked = o.check == checking::on,
                         .window = window_of(o),
                         .provider = (*session)->provider(),
                         .mechanism = {},
                         .processors = {},
                         .where = {},
                         .probe_ns = 0};
    if (processor >= 0) setting.processors = {processor};
    setting.mechanism = (*session)->mechanism();
    const perf_bench bench{.run = run, .terms = (*session)->terms(), .link = nullptr, .buffers = {}};
    const int status = run_flow(o, setting, bench);
    (*session)->leave();
    return status;
}

}  // namespace weft::tool
