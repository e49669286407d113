#include "perf_session.hpp"

#include <time.h>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "sizes.hpp"

namespace weft::tool {
// ---- server ---------------------------------------------------------------------------------------------

result<std::unique_ptr<perf_server>> perf_server::open(const fabric& fab, std::string_view provider, watch& w,
                                                       const cycle_clock& clock) {
    std::unique_ptr<perf_server> server(new perf_server(fab, w, clock));
    auto control = control_end::open(fab, provider, {}, w);
    if (!control) return std::move(control).error();
    server->control_ = *std::move(control);
    w.also([control = server->control_.get()] { return control->poll(); });
    if (!server->control_->expect_newcomers()) return w.why();
    return server;
}

perf_server::event perf_server::serve_next() {
    if (!has_client()) {
        if (!control_->expect_newcomers()) return event::failed;
        const auto hello = control_->take_newcomer();
        return hello ? greet(*hello) : event::nothing;
    }
    if (!control_->expect(client_)) return fail_session();
    const auto next = control_->wait([this] { return work_->poll(); });
    if (!next) return fail_session();
    switch (next->kind) {
        case control_kind::order: return obey(next->order);
        case control_kind::leave: end_session(); return event::left;
        default: break;
    }
    watch_.fail({errc::protocol_error, 0, "the client sent a control message out of turn"});
    return fail_session();
}

perf_server::event perf_server::fail_session() {
    end_session();
    return event::failed;
}

void perf_server::end_session() {
    work_.reset();
    control_->drop_partner();
}

perf_server::event perf_server::greet(const control_end::arrival_of& hello) {
    const control_message& m = hello.message;
    client_ = hello.from;
    client_processor_ = m.processor;
    terms_ = {.provider = std::string(control_->provider()),
              .op = m.op,
              .threads = m.threads,
              .check = m.check,
              .size_max = m.size_max,
              .memory_size = m.memory_size,
              .window_max = m.window_max};
    control_message answer;
    answer.kind = control_kind::welcome;
    const auto work = [&]() -> result<std::unique_ptr<work_end>> {
        if (m.kind != control_kind::hello || m.window_max == 0 || m.window_max > window_max ||
            m.memory_size < buffer_size_min || m.memory_size > memory_size_max || m.size_max > m.memory_size)
            return failure{errc::invalid_argument, 0, "the other side does not accept these sizes"};
        auto opened = work_end::open(fabric_, terms_, watch_);
        if (!opened) return opened;
        if (auto connected = (*opened)->connect(m.address_view()); !connected) return std::move(connected).error();
        return opened;
    };
    auto opened = work();
    if (opened) {
        answer.set_address((*opened)->own_address());
    } else {
        answer.kind = control_kind::refused;
        answer.set_failure(opened.error());
    }
    if (!control_->send(client_, answer)) return fail_session();
    if (!opened) return event::refused;
    work_ = *std::move(opened);
    return event::greeted;
}

perf_server::event perf_server::obey(const slice_order& order) {
    control_message answer;
    if (!within(order, terms_)) {
        answer.kind = control_kind::refused;
        answer.set_failure({errc::invalid_argument, 0, "the other side does not accept this order"});
        return control_->send(client_, answer) ? event::served : fail_session();
    }
    // The next message is awaited from now on: it also tells when the client dies.
    if (!control_->expect(client_) || !work_->prepare(order)) return fail_session();
    answer.kind = control_kind::ready;
    if (!control_->send(client_, answer)) return fail_session();
    answer.kind = control_kind::done;
    answer.figure = work_->respond(order, clock_);
    if (answer.figure >= 0) return control_->send(client_, answer) ? event::served : fail_session();
    // A client that is still there learns the reason; one that is not makes the send fail.
    const failure why = watch_.why();
    if (why.code != errc::peer_gone && why.code != errc::timed_out) {
        watch_.forget();
        answer.set_failure(why);
        control_->send(client_, answer);
        watch_.forget();
        watch_.fail(why);
    }
    return fail_session();
}

// ---- client ---------------------------------------------------------------------------------------------

result<std::unique_ptr<perf_client_session>> perf_client_session::open(const fabric& fab, std::string_view target,
                                                                       const work_terms& terms, watch& w,
                                                                       const cycle_clock& clock) {
    std::unique_ptr<perf_client_session> session(new perf_client_session(terms, w, clock));
    auto control = control_end::open(fab, terms.provider, target, w);
    if (!control) return std::move(control).error();
    session->control_ = *std::move(control);
    session->terms_.provider = std::string(session->control_->provider());
    w.also([control = session->control_.get(), &w] {
        if (!control->poll()) return false;
        // Replaced by what it says, see run().
        return !control->failure_waits() || w.fail({errc::protocol_error, 0, "the other side failed"});
    });
    auto server = session->control_->resolve(target);
    if (!server) return std::move(server).error();
    session->server_ = *server;
    auto work = work_end::open(fab, session->terms_, w);
    if (!work) return std::move(work).error();
    session->work_ = *std::move(work);
    return session;
}

failure perf_client_session::reason(const std::optional<control_message>& answer) const {
    if (!answer) return watch_.why();
    if (answer->kind == control_kind::refused || answer->error != 0) return answer->get_failure();
    return {errc::protocol_error, 0, "the other side sent a control message out of turn"};
}

result<double> perf_client_session::greet(int processor) {
    control_message hello;
    hello.kind = control_kind::hello;
    hello.set_address(work_->own_address());
    hello.size_max = terms_.size_max;
    hello.memory_size = terms_.memory_size;
    hello.window_max = terms_.window_max;
    hello.op = terms_.op;
    hello.threads = terms_.threads;
    hello.check = terms_.check;
    hello.processor = processor;
    if (!control_->expect(server_) || !control_->send(server_, hello)) return watch_.why();
    // It may have to wait for its turn; then it need not spin.
    constexpr std::uint64_t spin_ns = 100'000'000;
    constexpr std::uint64_t tell_ns = 2'000'000'000;
    const std::uint64_t start = base::now_ns();
    bool told = false;
    watch_.be_patient(true);
    const auto welcome = control_->wait([&] {
        const std::uint64_t waited = base::now_ns() - start;
        if (waited < spin_ns) return true;
        const timespec nap{.tv_sec = 0, .tv_nsec = 1'000'000};
        nanosleep(&nap, nullptr);
        if (interrupted()) return watch_.fail({errc::canceled, 0, "interrupted"});
        if (!told && waited > tell_ns) {
            fmt::print(stderr, "weft: waiting: the other side is busy with another client\n");
            told = true;
        }
        return true;
    });
    watch_.be_patient(false);
    if (!welcome || welcome->kind != control_kind::welcome) return reason(welcome);
    if (auto connected = work_->connect(welcome->address_view()); !connected) return std::move(connected).error();
    return 0.0;
}

result<double> perf_client_session::run(const slice_order& order, histogram& times) {
    control_message m;
    m.kind = control_kind::order;
    m.order = order;
    if (!control_->expect(server_) || !control_->send(server_, m)) return watch_.why();
    const auto poll_work = [this] { return work_->poll(); };
    const auto ready = control_->wait(poll_work);
    if (!ready || ready->kind != control_kind::ready) return reason(ready);
    if (!control_->expect(server_)) return watch_.why();
    const double mine = work_->initiate(order, clock_, times);
    if (mine < 0) {
        // The other side may know better: a failed check there ends this side's wait, too.
        const failure own = watch_.why();
        watch_.forget();
        const auto said = control_->take();
        watch_.forget();
        watch_.fail(own);
        return said && said->message.error != 0 ? said->message.get_failure() : own;
    }
    const auto done = control_->wait(poll_work);
    if (!done || done->kind != control_kind::done || done->error != 0) return reason(done);
    return order.test == quantity::latency ? mine : done->figure;
}

std::string perf_client_session::mechanism() const {
    const auto path = work_->path();
    return path && path->state == "connected" && path->mechanism != "none" ? path->mechanism : std::string{};
}

void perf_client_session::leave() {
    if (watch_.failed()) return;
    control_message m;
    m.kind = control_kind::leave;
    control_->send(server_, m);
}

}  // namespace weft::tool
