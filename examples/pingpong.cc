// Ping-pong between two processes: how a program finds a peer, sends, receives, and notices that the peer is gone.
//
//   pingpong              starts the other side itself and prints the median of half the round trip
//   pingpong listen       prints its address and answers one peer
//   pingpong shm://...    talks to the one who listens there
#include <sched.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weft/weft.hpp>

namespace {

using clock_type = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr weft::tag ping{1};
constexpr weft::tag pong{2};

// What every weft program opens once it has chosen a domain. The domain keeps alive what it needs of the fabric.
struct station {
    weft::domain domain;
    weft::completion_queue<> queue;
    weft::endpoint<weft::caps::tagged> endpoint;

    explicit station(weft::domain chosen)
        : domain(std::move(chosen)),
          queue(domain.open_queue().value()),
          endpoint(domain.open<weft::caps::tagged>({}, queue).value()) {}
};

// Polls until an operation has ended. A peer may take its time, so the waiting gets cheaper the longer it lasts.
weft::entry::tagged wait(weft::completion_queue<>& queue) {
    constexpr int spins = 2000;          // about 50 us: longer than any round trip between running processes
    constexpr int yields = 2000;         // the other side may need this very processor
    constexpr timespec nap{0, 200'000};  // 200 us: 5,000 looks per second cost next to nothing
    weft::entry::tagged ended[1];
    for (int i = 0;; ++i) {
        if (!queue.poll(ended).empty()) return ended[0];
        if (i >= spins + yields)
            ::nanosleep(&nap, nullptr);
        else if (i >= spins)
            ::sched_yield();
    }
}

// Sends eight bytes. The first send makes contact, so it is answered with try_again until the peer has accepted.
void send(station& here, weft::peer to, weft::tag g, std::uint64_t number) {
    const auto deadline = clock_type::now() + 10s;
    for (;;) {
        const weft::status s = here.endpoint.inject(weft::bytes_of(number), to, g);
        if (s.ok()) return;
        if (!s.again()) {
            const auto path = here.endpoint.path(to);  // knows in words why there is none
            throw std::runtime_error(path ? s.text() : path.error().text);
        }
        if (clock_type::now() > deadline) throw std::runtime_error("the peer has not answered for 10 seconds");
        here.queue.poll({});  // makes progress, takes no entries
        ::sched_yield();
    }
}

// Answers pings until the peer is gone.
void answer(station& here) {
    std::uint64_t number = 0;
    weft::peer from = weft::any_peer;  // after the first ping: that peer, so that its end ends the receive
    for (;;) {
        const weft::status posted =
            here.endpoint.recv(weft::bytes_of(number), ping, weft::token{1}, weft::match_exactly, from);
        if (posted.code() == weft::errc::peer_gone) return;
        posted.check();
        const weft::entry::tagged e = wait(here.queue);
        if (e.outcome.code() == weft::errc::peer_gone) return;
        e.outcome.check();
        from = e.source;
        send(here, from, pong, number);
    }
}

void measure(station& here, std::string_view address) {
    const weft::peer to = here.domain.resolve(address).value();
    constexpr std::size_t warm_up = 1000, wanted = 50'000;
    std::vector<clock_type::duration> times;
    times.reserve(wanted);
    // On a busy machine the time runs out first.
    const auto deadline = clock_type::now() + 3s;
    for (std::size_t i = 0; i < warm_up + wanted && (times.empty() || clock_type::now() < deadline); ++i) {
        std::uint64_t back = 0;
        const auto start = clock_type::now();
        send(here, to, ping, i);
        here.endpoint.recv(weft::bytes_of(back), pong, weft::token{1}, weft::match_exactly, to).check();
        wait(here.queue).outcome.check();
        if (back != i) throw std::runtime_error("another number came back than was sent");
        if (i >= warm_up) times.push_back(clock_type::now() - start);
    }
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(*middle).count();
    std::printf("%s, 8 bytes: %.3f us half round trip (median of %zu)\n", here.domain.what().provider.c_str(),
                static_cast<double>(ns) / 2000.0, times.size());
}

void listen() {
    const auto fabric = weft::fabric::open().value();
    station here(fabric.best(weft::caps::tagged).value());
    std::printf("%s\n", here.endpoint.address_text().c_str());
    std::fflush(stdout);
    answer(here);
}

void talk(std::string_view address) {
    const auto fabric = weft::fabric::open().value();
    station here(fabric.best_for(address, weft::caps::tagged).value());
    measure(here, address);
}

// Both sides. The fork comes before anything of weft is opened: nothing of it may be used across a fork.
void both() {
    int ends[2];
    if (::pipe(ends) != 0) throw std::runtime_error("cannot make a pipe");
    const pid_t child = ::fork();
    if (child < 0) throw std::runtime_error("cannot start a second process");
    if (child == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGTERM);  // do not outlive a parent that fails before it makes contact
        ::dup2(ends[1], STDOUT_FILENO);
        ::close(ends[0]);
        ::close(ends[1]);
        return listen();
    }
    ::close(ends[1]);
    std::string address;
    for (char c = 0; ::read(ends[0], &c, 1) == 1 && c != '\n';) address += c;
    ::close(ends[0]);
    if (address.empty()) throw std::runtime_error("the other side has not started");
    talk(address);
}

}  // namespace

int main(int count, char** words) {
    const std::string_view what = count > 1 ? words[1] : "";
    if (count > 2 || what.starts_with('-')) {
        std::fprintf(stderr, "usage: pingpong [listen | shm://ADDRESS]\n");
        return what == "--help" || what == "-h" ? 0 : 2;
    }
    try {
        if (what.empty())
            both();
        else if (what == "listen")
            listen();
        else
            talk(what);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "pingpong: %s\n", e.what());
        return 1;
    }
    return 0;
}
