#include "os/eventfd.hpp"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "os/error.hpp"

namespace weft::os {

result<eventfd> eventfd::create() {
    descriptor file{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    if (!file) return system_failure(errno, "create an eventfd");
    return eventfd{std::move(file)};
}

result<eventfd> eventfd::adopt(descriptor received) {
    // The kernel offers no call that tells the kind of an anonymous descriptor; its link in /proc does.
    constexpr std::string_view expected = "anon_inode:[eventfd]";
    char link[64] = {};
    const std::string path = "/proc/self/fd/" + std::to_string(received.get());
    const ssize_t length = ::readlink(path.c_str(), link, sizeof link);
    if (length < 0)
        return system_failure(errc::not_supported, errno, "tell the kind of a received descriptor by " + path);
    if (std::string_view(link, static_cast<std::size_t>(length)) != expected)
        return plain_failure(errc::protocol_error, "cannot use the event descriptor that the peer handed over: it is " +
                                                       std::string(link, static_cast<std::size_t>(length)) +
                                                       " and not an eventfd");
    const int flags = ::fcntl(received.get(), F_GETFL);
    if (flags < 0 || ::fcntl(received.get(), F_SETFL, flags | O_NONBLOCK) != 0)
        return system_failure(errno, "make the peer's eventfd non-blocking");
    return eventfd{std::move(received)};
}

status eventfd::signal() const noexcept {
    const std::uint64_t one = 1;
    while (::write(file_.get(), &one, sizeof one) < 0) {
        if (errno == EAGAIN) return {};
        if (errno != EINTR) return errc::system_error;
    }
    return {};
}

std::uint64_t eventfd::drain() const noexcept {
    std::uint64_t count = 0;
    while (::read(file_.get(), &count, sizeof count) < 0) {
        if (errno != EINTR) return 0;
    }
    return count;
}

}  // namespace weft::os
