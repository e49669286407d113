#include "floor/partner_link.hpp"
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

namespace weft::tool {
namespace {

// Spins between two looks at the clock and the partner: with the pause some 100 us, so the system calls do not count.
constexpr std::uint32_t check_mask_apart = 4096 - 1;
// Sharing a processor the partner cannot move while we spin: hand it over almost at once.
constexpr std::uint32_t check_mask_shared = 64 - 1;
// An idle responder spins this long for the next request before it starts to sleep in between.
constexpr std::uint64_t idle_spin_ns = 100'000'000;
constexpr long idle_sleep_ns = 200'000;

failure refused(const char* what, int error) {
    return {errc::system_error, error,
            std::string(what) + " of " + std::to_string(sizeof(arena) >> 20) +
                " MiB for the two measuring processes: " + std::strerror(error) +
                "; check the memory limits (RLIMIT_AS, memory cgroup)"};
}

std::uint64_t own_preemptions() noexcept {
    rusage use{};
    getrusage(RUSAGE_SELF, &use);
    return static_cast<std::uint64_t>(use.ru_nivcsw);
}

}  // namespace

result<partner_link> partner_link::create(const cycle_clock& clock, const link_settings& settings) {
    // A memfd rather than anonymous memory: the same kind of pages as a provider maps, so the floor is its floor.
    const int fd = memfd_create("weft-floor", MFD_CLOEXEC);
    if (fd < 0) return refused("cannot create shared memory", errno);
    if (ftruncate(fd, sizeof(arena)) != 0) {
        const int error = errno;
        close(fd);
        return refused("cannot size shared memory", error);
    }
    void* memory = mmap(nullptr, sizeof(arena), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    const int error = errno;
    close(fd);
    if (memory == MAP_FAILED) return refused("cannot map shared memory", error);
    if (settings.pages == page_use::huge_wanted) madvise(memory, sizeof(arena), MADV_HUGEPAGE);
    // Default-initialised: the windows stay untouched until they are first written.
    return partner_link(new (memory) arena, clock, settings);
}

partner_link::partner_link(arena* shared, const cycle_clock& clock, const link_settings& settings) noexcept
    : arena_(shared),
      clock_(clock),
      deadline_ticks_(clock.to_ticks(settings.deadline_ns)),
      deadline_ns_(settings.deadline_ns),
      check_mask_(settings.cores == core_use::shared ? check_mask_shared : check_mask_apart),
      cores_(settings.cores) {}

partner_link::partner_link(partner_link&& other) noexcept
    : arena_(std::exchange(other.arena_, nullptr)),
      clock_(other.clock_),
      deadline_ticks_(other.deadline_ticks_),
      deadline_ns_(other.deadline_ns_),
      requests_(other.requests_),
      check_mask_(other.check_mask_),
      partner_(other.partner_),
      role_(other.role_),
      cores_(other.cores_),
      trouble_(other.trouble_) {}

partner_link::~partner_link() {
    if (arena_ == nullptr) return;
    if (partner_ != 0) abandon();
    munmap(arena_, sizeof(arena));
}

void partner_link::adopt(role mine, pid_t partner) noexcept {
    role_ = mine;
    partner_ = partner;
    // Fails where there is no Yama module, and is not needed there.
    prctl(PR_SET_PTRACER, static_cast<unsigned long>(partner), 0, 0, 0);
#if defined(MADV_POPULATE_WRITE)
    // Page faults are nobody's floor: take them now. Kernels before 5.14 refuse, and take them in the first slice.
    madvise(arena_, sizeof(arena), MADV_POPULATE_WRITE);
#endif
}

bool partner_link::partner_lives() const noexcept {
    // A child learns of its parent's death by being given another one.
    if (role_ == role::responder) return getppid() == partner_;
    // kill(pid, 0) would still find a dead child nobody has waited for. WNOWAIT leaves the waiting to its owner.
    siginfo_t info{};
    if (waitid(P_PID, static_cast<id_t>(partner_), &info, WEXITED | WNOHANG | WNOWAIT) != 0) return errno == EINTR;
    return info.si_pid == 0;
}

bool partner_link::break_off(trouble t) noexcept {
    trouble_ = t;
    abandon();
    return false;
}

bool partner_link::keep_waiting(std::uint64_t& give_up) noexcept {
    if (trouble_ != trouble::none) return false;
    // Pairs with the store in abandon().
    if (arena_->abandoned.value.load(std::memory_order_acquire) != 0) return break_off(trouble::abandoned);
    if (!partner_lives()) return break_off(trouble::partner_gone);
    const std::uint64_t now = clock_.now();
    if (give_up == 0) give_up = now + deadline_ticks_;
    if (now > give_up) return break_off(trouble::partner_silent);
    if (cores_ == core_use::shared) sched_yield();
    return true;
}

bool partner_link::ask(const request& r) noexcept {
    if (broken()) return false;
    for (channel* c : {&arena_->outward, &arena_->homeward}) {
        c->produced.value.store(0, std::memory_order_relaxed);  // ordered by the release of `requested` below
        c->consumed.value.store(0, std::memory_order_relaxed);  // the same
    }
    arena_->asked = r;
    // Pairs with the acquire in next_request().
    arena_->requested.value.store(++requests_, std::memory_order_release);
    return true;
}

std::optional<int> partner_link::finish() noexcept {
    // Pairs with the release in answer().
    if (!wait([&] { return arena_->answered.value.load(std::memory_order_acquire) == requests_; })) return {};
    return arena_->answer_error;
}

std::optional<request> partner_link::next_request() noexcept {
    if (broken()) return {};
    const std::uint64_t spin_until = clock_.now() + clock_.to_ticks(idle_spin_ns);
    for (std::uint32_t spins = 1;; ++spins) {
        // Pairs with the release in ask().
        if (arena_->requested.value.load(std::memory_order_acquire) != requests_) break;
        pause();
        if ((spins & check_mask_) != 0) continue;
        std::uint64_t no_deadline = 0;
        if (!keep_waiting(no_deadline)) return {};
        while (clock_.now() > spin_until &&
               arena_->requested.value.load(std::memory_order_acquire) == requests_) {  // pairs as above
            const timespec pause_time{.tv_sec = 0, .tv_nsec = idle_sleep_ns};
            nanosleep(&pause_time, nullptr);
            if (!keep_waiting(no_deadline)) return {};
            no_deadline = 0;
        }
    }
    ++requests_;
    return arena_->asked;
}

void partner_link::answer(int error) noexcept {
    arena_->answer_error = error;
    arena_->answer_preemptions = own_preemptions();
    // Pairs with the acquire in finish().
    arena_->answered.value.store(requests_, std::memory_order_release);
}

std::uint64_t partner_link::preemptions() const noexcept {
    return cores_ == core_use::shared ? 0 : own_preemptions() + arena_->answer_preemptions;
}

void partner_link::abandon() noexcept {
    if (trouble_ == trouble::none) trouble_ = trouble::abandoned;
    // Pairs with the acquire in keep_waiting().
    arena_->abandoned.value.store(1, std::memory_order_release);
}

failure partner_link::why() const {
    switch (trouble_) {
        case trouble::partner_gone:
            return {errc::peer_gone, 0, "the other measuring process died; see its last output"};
        case trouble::partner_silent:
            return {errc::timed_out, 0,
                    "the other measuring process did not answer within " + std::to_string(deadline_ns_ / 1'000'000) +
                        " ms; it is stopped, or the machine has no processor time for it"};
        case trouble::none:
        case trouble::abandoned: break;
    }
    return {errc::canceled, 0, "one of the two measuring processes gave up; see its last output"};
}

}  // namespace weft::tool
