#include "floor/responder.hpp"
#include <time.h>
#include "floor/probe.hpp"

namespace weft::tool {
namespace {

void sleep_for(std::uint64_t ns) noexcept {
    constexpr std::uint64_t second = 1'000'000'000;
    const timespec time{.tv_sec = static_cast<time_t>(ns / second), .tv_nsec = static_cast<long>(ns % second)};
    nanosleep(&time, nullptr);  // a shorter sleep after a signal is as good
}

}  // namespace

result<void> serve(partner_link& link, const floor_buffers& buffers,
                   const std::function<result<void>(std::uint64_t)>& on_call) {
    // Pairs with the acquires in floor.cc, which run after the answer to try_attach.
    link.shared().answer_attach.store(reinterpret_cast<std::uint64_t>(buffers.out.data()), std::memory_order_release);
    while (const std::optional<request> asked = link.next_request()) {
        int error = 0;
        switch (asked->kind) {
            case request_kind::stop: link.answer(0); return {};
            case request_kind::probe:
                if (!answer_probe(link)) return link.why();
                break;
            case request_kind::call:
                if (auto done = on_call(asked->argument); !done) {
                    link.abandon();
                    return done;
                }
                break;
            case request_kind::rest: sleep_for(asked->argument); break;
            default:
                if (!answer_floor(link, buffers, *asked, error)) return link.why();
                break;
        }
        link.answer(error);
    }
    return link.why();
}

result<double> call_responder(partner_link& link, std::uint64_t argument, const std::function<result<double>()>& mine) {
    if (!link.ask({.kind = request_kind::call, .argument = argument})) return link.why();
    auto figure = mine();
    if (!figure) {
        link.abandon();
        return figure;
    }
    if (!link.finish()) return link.why();
    return figure;
}

result<void> rest(partner_link& link, std::uint64_t ns) {
    if (!link.ask({.kind = request_kind::rest, .argument = ns})) return link.why();
    sleep_for(ns);
    if (!link.finish()) return link.why();
    return {};
}

result<void> stop_responder(partner_link& link) {
    if (!link.ask({.kind = request_kind::stop})) return link.why();
    if (!link.finish()) return link.why();
    return {};
}

}  // namespace weft::tool
