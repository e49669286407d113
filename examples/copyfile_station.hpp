// The weft side of copyfile: one endpoint, operations that can be waited for, and patience.
#pragma once
#include <time.h>

#include <array>
#include <chrono>
#include <csignal>
#include <string>
#include <utility>

#include <weft/weft.hpp>

#include "copyfile_files.hpp"

namespace copyfile {

inline volatile std::sig_atomic_t interrupted = 0;  // set by SIGINT and SIGTERM

// One send or receive. It and its buffer stay where they are while it is pending.
struct operation {
    bool pending = false;
    weft::status outcome;
    std::uint64_t size = 0;
    weft::peer from;
};

// The other side has died or closed.
struct peer_lost : trouble {
    using trouble::trouble;
};

// What we cannot do without. A provider that cannot do it is refused, with a sentence that says what to change.
inline weft::needs requirements() {
    weft::needs n;
    n.message_size_min = piece_size;
    n.inject_size_min = message_max;
    return n;
}

class station {
  public:
    explicit station(weft::domain chosen)
        : domain_(std::move(chosen)),
          queue_(domain_.open_queue().value()),
          endpoint_(domain_.open<weft::caps::tagged>(requirements(), queue_).value()) {}

    weft::domain& domain() noexcept { return domain_; }
    std::string address() const { return endpoint_.address_text(); }

    // Marks what has ended. Everything weft does for us, it does in here.
    bool poll() {
        if (interrupted != 0) throw trouble("interrupted");
        const auto ended = queue_.poll(room_);
        for (const weft::entry::tagged& e : ended) {
            auto& o = *static_cast<operation*>(e.context.pointer());
            o.pending = false;
            o.outcome = e.outcome;
            o.size = e.size;
            o.from = e.source;
        }
        return !ended.empty();
    }

    // Polls until `done()`. Looks eagerly at first, then rarely: there is nothing to sleep on in this build.
    template <class Done>
    void wait_until(Done&& done) {
        constexpr int eager = 500;           // about 20 us
        constexpr timespec nap{0, 100'000};  // 100 us: a tenth of a piece's time, some per cent of a processor
        for (int idle = 0; !done();) {
            if (poll())
                idle = 0;
            else if (++idle > eager)
                ::nanosleep(&nap, nullptr);
        }
    }
    void wait(const operation& o) {
        wait_until([&] { return !o.pending; });
        if (!o.outcome) give_up(o.outcome);
    }
    [[noreturn]] static void give_up(weft::status s) {
        if (s.code() == weft::errc::peer_gone) throw peer_lost(s.text());
        throw trouble(s.text());
    }

    void receive(operation& o, weft::buffer into, weft::tag g, weft::peer from) {
        o = {};
        start(from, [&] { return endpoint_.recv(into, g, weft::token{&o}, weft::match_exactly, from); });
        o.pending = true;
    }
    void send(operation& o, weft::const_buffer bytes, weft::tag g, weft::peer to) {
        o = {};
        start(to, [&] { return endpoint_.send(bytes, to, g, weft::token{&o}); });
        o.pending = true;
    }
    // A small message that is copied at once.
    template <class Message>
    void say(const Message& m, weft::tag g, weft::peer to) {
        start(to, [&] { return endpoint_.inject(weft::bytes_of(m), to, g); });
    }
    // Takes a receive back that nothing has matched; if something has, it ends by itself.
    void take_back(operation& o) noexcept {
        if (o.pending) (void)endpoint_.cancel(weft::token{&o});
    }

  private:
    // try_again says that there is no room or no contact yet: nothing was started. Contact takes as long as the other
    // side takes to look, so there is a limit to our patience.
    template <class Call>
    void start(weft::peer with, Call&& call) {
        using namespace std::chrono_literals;
        const auto deadline = std::chrono::steady_clock::now() + 10s;
        for (;;) {
            const weft::status s = call();
            if (s.ok()) return;
            const auto path = endpoint_.path(with);
            if (!s.again() && !path) throw trouble(path.error().text);  // says in words why there is no way
            if (!s.again()) give_up(s);
            if (path && path->state == "connecting" && std::chrono::steady_clock::now() > deadline)
                throw trouble("there is somebody at " + domain_.text_of(with) +
                              ", but no answer for 10 seconds: that process is stopped or does not poll");
            if (!poll()) {
                constexpr timespec nap{0, 20'000};
                ::nanosleep(&nap, nullptr);
            }
        }
    }

    weft::domain domain_;
    weft::completion_queue<> queue_;
    weft::endpoint<weft::caps::tagged> endpoint_;
    std::array<weft::entry::tagged, 16> room_;
};

}  // namespace copyfile
