#include "os/epoll.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <ctime>

#include "os/error.hpp"

namespace weft::os {
namespace {

static_assert(static_cast<std::uint32_t>(ready::readable) == EPOLLIN);
static_assert(static_cast<std::uint32_t>(ready::writable) == EPOLLOUT);
static_assert(static_cast<std::uint32_t>(ready::error) == EPOLLERR);
static_assert(static_cast<std::uint32_t>(ready::hang_up) == EPOLLHUP);
static_assert(static_cast<std::uint32_t>(ready::peer_closed) == EPOLLRDHUP);
static_assert(static_cast<std::uint32_t>(ready::edge) == static_cast<std::uint32_t>(EPOLLET));

// 64 events fit 768 bytes of stack; what is left over comes with the next wait.
constexpr std::size_t batch_max = 64;
constexpr std::int64_t ns_per_s = 1'000'000'000;
constexpr std::int64_t ns_per_ms = 1'000'000;

// Rounded up: a wait must not return early and make its caller spin through the rest.
int milliseconds(std::int64_t timeout_ns) noexcept {
    if (timeout_ns < 0) return -1;
    return static_cast<int>(std::min<std::int64_t>(timeout_ns / ns_per_ms + (timeout_ns % ns_per_ms != 0), INT_MAX));
}

}  // namespace

result<epoll> epoll::create() {
    descriptor file{::epoll_create1(EPOLL_CLOEXEC)};
    if (!file) return system_failure(errno, "create an epoll set");
    return epoll{std::move(file)};
}

result<void> epoll::control(int operation, const descriptor& file, ready interest, std::uint64_t key) {
    epoll_event event{};
    event.events = static_cast<std::uint32_t>(interest);
    event.data.u64 = key;
    if (::epoll_ctl(file_.get(), operation, file.get(), &event) == 0) return {};
    const int error = errno;
    const std::string wanted = "watch descriptor " + std::to_string(file.get());
    if (error == ENOSPC) return system_failure(error, wanted + " (fs.epoll.max_user_watches is exhausted; raise it)");
    if (error == EEXIST || error == ENOENT || error == EBADF)
        return system_failure(errc::invalid_argument, error, wanted);
    return system_failure(error, wanted);
}

result<void> epoll::add(const descriptor& file, ready interest, std::uint64_t key) {
    return control(EPOLL_CTL_ADD, file, interest, key);
}

result<void> epoll::modify(const descriptor& file, ready interest, std::uint64_t key) {
    return control(EPOLL_CTL_MOD, file, interest, key);
}

void epoll::remove(const descriptor& file) noexcept {
    epoll_event ignored{};  // kernels before 2.6.9 wanted one, and tools still check for it
    ::epoll_ctl(file_.get(), EPOLL_CTL_DEL, file.get(), &ignored);
}

int epoll::wait_kernel(void* events, int count, std::int64_t timeout_ns) noexcept {
    auto* const room = static_cast<epoll_event*>(events);
    if (nanoseconds_ && timeout_ns > 0) {
        const timespec timeout{timeout_ns / ns_per_s, timeout_ns % ns_per_s};
        const int found = ::epoll_pwait2(file_.get(), room, count, &timeout, nullptr);
        if (found >= 0 || (errno != ENOSYS && errno != EPERM)) return found;
        nanoseconds_ = false;
    }
    return ::epoll_wait(file_.get(), room, count, milliseconds(timeout_ns));
}

std::span<ready_event> epoll::wait(std::span<ready_event> room, std::int64_t timeout_ns) noexcept {
    epoll_event events[batch_max];
    const auto count = static_cast<int>(std::min(room.size(), batch_max));
    if (count == 0) return {};
    const int found = wait_kernel(events, count, timeout_ns);
    if (found <= 0) return {};
    for (std::size_t i = 0; i < static_cast<std::size_t>(found); ++i)
        room[i] = {events[i].data.u64, static_cast<ready>(events[i].events)};
    return room.first(static_cast<std::size_t>(found));
}

}  // namespace weft::os
