// The two sides of a measurement: a client that gives orders, a server that takes its part in them.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "floor/cycle_clock.hpp"
#include "perf_control.hpp"
#include "perf_watch.hpp"
#include "perf_work.hpp"

namespace weft::tool {

class perf_server {
  public:
    static result<std::unique_ptr<perf_server>> open(const fabric& fab, std::string_view provider, watch& w,
                                                     const cycle_clock& clock);
    std::string address_text() const { return control_->address_text(); }
    bool has_client() const noexcept { return work_ != nullptr; }
    std::string client_text() const { return control_->text_of(client_); }
    // Where the client says it runs; -1 if it did not say.
    int client_processor() const noexcept { return client_processor_; }

    enum class event : std::uint8_t { nothing, greeted, refused, served, left, failed };
    // Without a client: takes a newcomer if there is one, without waiting. With one: waits for its next message and
    // does what it says. `failed`: see the watch; the session is over.
    event serve_next();
    void end_session();

  private:
    perf_server(const fabric& fab, watch& w, const cycle_clock& clock) : fabric_(fab), watch_(w), clock_(clock) {}
    event greet(const control_end::arrival_of& hello);
    event obey(const slice_order& order);
    event fail_session();

    const fabric& fabric_;
    watch& watch_;
    cycle_clock clock_;
    std::unique_ptr<control_end> control_;
    std::unique_ptr<work_end> work_;
    work_terms terms_;
    peer client_ = any_peer;
    int client_processor_ = -1;
};

class perf_client_session {
  public:
    static result<std::unique_ptr<perf_client_session>> open(const fabric& fab, std::string_view target,
                                                             const work_terms& terms, watch& w,
                                                             const cycle_clock& clock);

    // Introduces itself and waits for the welcome; a server busy with another client lets it wait.
    result<double> greet(int processor);
    // Latency: median half round trip in ns; rate and bandwidth: messages per second taken by the server.
    result<double> run(const slice_order& order, histogram& times);
    void leave();

    const work_terms& terms() const noexcept { return terms_; }
    std::string provider() const { return terms_.provider; }
    // How large messages go, as far as it is known before the first one; empty if it is not.
    std::string mechanism() const;

  private:
    perf_client_session(work_terms terms, watch& w, const cycle_clock& clock)
        : terms_(std::move(terms)), watch_(w), clock_(clock) {}
    failure reason(const std::optional<control_message>& answer) const;

    work_terms terms_;
    watch& watch_;
    cycle_clock clock_;
    std::unique_ptr<control_end> control_;
    std::unique_ptr<work_end> work_;
    peer server_ = any_peer;
};

}  // namespace weft::tool
