#include "perf_watch.hpp"

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <utility>

#include "base/clock.hpp"

namespace weft::tool {
namespace {

// A slice takes milliseconds; whoever says nothing for this long is stopped or stuck.
constexpr std::uint64_t silence_max_ns = 10'000'000'000;

std::atomic<int> signals_seen{0};  // written by the handler, read by look_around() of the same process
static_assert(std::atomic<int>::is_always_lock_free);

extern "C" void on_signal(int number) {
    // Relaxed: nothing else is handed over.
    if (signals_seen.fetch_add(1, std::memory_order_relaxed) > 0) {
        std::signal(number, SIG_DFL);
        std::raise(number);
    }
}

}  // namespace

void install_signal_handlers() {
    struct sigaction wanted{};
    wanted.sa_handler = on_signal;
    sigemptyset(&wanted.sa_mask);
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaction(number, &wanted, nullptr);
}

bool interrupted() noexcept { return signals_seen.load(std::memory_order_relaxed) != 0; }

bool watch::fail(failure f) {
    if (!std::exchange(failed_, true)) why_ = std::move(f);
    return false;
}

bool watch::partner_lives() const noexcept {
    if (role_ == role::responder) return getppid() == partner_;
    siginfo_t info{};
    if (waitid(P_PID, static_cast<id_t>(partner_), &info, WEXITED | WNOHANG | WNOWAIT) != 0) return errno == EINTR;
    return info.si_pid == 0;
}

bool watch::look_around() noexcept {
    if (failed_) return false;
    if (interrupted()) return fail({errc::canceled, 0, "interrupted"});
    if (partner_ != 0 && !partner_lives()) return fail({errc::peer_gone, 0, "the other side has died or was ended"});
    if (also_ && !also_()) return false;
    if (also_about_peer_ && !also_about_peer_()) return false;
    if (cores_ == core_use::shared) sched_yield();
    if (patient_) return true;
    const std::uint64_t now = base::now_ns();
    if (silent_since_ns_ == 0) silent_since_ns_ = now;
    if (now - silent_since_ns_ > silence_max_ns)
        return fail({errc::timed_out, 0, "the other side has said nothing for 10 s; it is stopped or stuck"});
    return true;
}

}  // namespace weft::tool
