#include "os/unix_socket.hpp"

#include <fcntl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "os/error.hpp"

// Linux 6.5; absent from the C library's headers of that age.
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

namespace weft::os {
namespace {

constexpr std::size_t control_size = CMSG_SPACE(descriptors_max * sizeof(int));

failure empty_handed(errc code, int error, const char* text) { return {code, error, text}; }

// Reads every descriptor of the control data into owners, whatever happens afterwards.
void take_descriptors(msghdr& message, datagram& into) {
    for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
        const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (std::size_t i = 0; i < count; ++i) {
            int number = -1;
            std::memcpy(&number, CMSG_DATA(part) + i * sizeof(int), sizeof number);
            descriptor received{number};
            if (into.descriptor_count < descriptors_max)
                into.descriptors[into.descriptor_count++] = std::move(received);
        }
    }
}

result<void> make_non_blocking(const descriptor& file) {
    const int flags = ::fcntl(file.get(), F_GETFL);
    if (flags < 0 || ::fcntl(file.get(), F_SETFL, flags | O_NONBLOCK) != 0)
        return system_failure(errno, "make descriptor " + std::to_string(file.get()) + " non-blocking");
    return {};
}

}  // namespace

result<std::array<connection, 2>> connection::pair() {
    int ends[2] = {-1, -1};
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0)
        return system_failure(errno, "create a pair of local sockets");
    return std::array<connection, 2>{connection{descriptor{ends[0]}}, connection{descriptor{ends[1]}}};
}

result<connection> connection::adopt(descriptor socket) {
    int domain = 0;
    int type = 0;
    socklen_t size = sizeof(int);
    if (::getsockopt(socket.get(), SOL_SOCKET, SO_DOMAIN, &domain, &size) != 0 ||
        ::getsockopt(socket.get(), SOL_SOCKET, SO_TYPE, &type, &size) != 0)
        return system_failure(errc::invalid_argument, errno,
                              "use descriptor " + std::to_string(socket.get()) + " as a socket");
    if (domain != AF_UNIX || type != SOCK_SEQPACKET)
        return plain_failure(errc::invalid_argument, "cannot use descriptor " + std::to_string(socket.get()) +
                                                         ": it is not a local SOCK_SEQPACKET socket");
    if (auto made = make_non_blocking(socket); !made) return made.error();
    return connection{std::move(socket)};
}

result<void> connection::send(std::span<const std::byte> bytes, std::span<const int> descriptors) {
    if (bytes.empty())
        return plain_failure(errc::invalid_argument, "cannot send an empty datagram: it would look like the end");
    if (descriptors.size() > descriptors_max)
        return plain_failure(errc::invalid_argument, "cannot send " + std::to_string(descriptors.size()) +
                                                         " descriptors in one datagram: the most is " +
                                                         std::to_string(descriptors_max));
    iovec data{const_cast<std::byte*>(bytes.data()), bytes.size()};  // sendmsg reads only; its iovec has no const form
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    alignas(cmsghdr) char control[control_size] = {};
    if (!descriptors.empty()) {
        message.msg_control = control;
        message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
        cmsghdr* part = CMSG_FIRSTHDR(&message);
        part->cmsg_level = SOL_SOCKET;
        part->cmsg_type = SCM_RIGHTS;
        part->cmsg_len = CMSG_LEN(descriptors.size_bytes());
        std::memcpy(CMSG_DATA(part), descriptors.data(), descriptors.size_bytes());
    }
    while (::sendmsg(socket_.get(), &message, MSG_NOSIGNAL) < 0) {
        const int error = errno;
        if (error == EINTR) continue;
        if (error == EAGAIN) return empty_handed(errc::try_again, error, "the peer's socket buffer is full");
        return system_failure(error, "send " + std::to_string(bytes.size()) + " bytes and " +
                                         std::to_string(descriptors.size()) + " descriptors to the peer");
    }
    return {};
}

result<datagram> connection::receive(std::span<std::byte> room) {
    iovec data{room.data(), room.size()};
    alignas(cmsghdr) char control[control_size];
    msghdr message{};
    ssize_t got = 0;
    for (bool was_reset = false;;) {
        message = {};
        message.msg_iov = &data;
        message.msg_iovlen = 1;
        message.msg_control = control;
        message.msg_controllen = sizeof control;
        got = ::recvmsg(socket_.get(), &message, MSG_CMSG_CLOEXEC);
        if (got >= 0) break;
        const int error = errno;
        if (error == EINTR) continue;
        if (error == EAGAIN) return empty_handed(errc::try_again, error, "no datagram from the peer yet");
        // A peer that dies with unread data causes one ECONNRESET, ahead of what it sent before: look again for that.
        if (error == ECONNRESET && !was_reset) {
            was_reset = true;
            continue;
        }
        return system_failure(error, "receive from the peer");
    }

    datagram received;
    received.size = static_cast<std::size_t>(got);
    take_descriptors(message, received);
    if (got == 0) return empty_handed(errc::peer_gone, 0, "the peer has closed its socket or died");
    if ((message.msg_flags & MSG_TRUNC) != 0)
        return plain_failure(errc::truncated, "a datagram from the peer is larger than the " +
                                                  std::to_string(room.size()) + " bytes expected at most");
    if ((message.msg_flags & MSG_CTRUNC) != 0) {
        if (received.descriptor_count == descriptors_max)
            return plain_failure(errc::protocol_error, "the peer sent more descriptors at once than the " +
                                                           std::to_string(descriptors_max) + " agreed on");
        received.descriptors_lost = true;
    }
    return received;
}

result<peer_credentials> connection::credentials() const {
    ucred found{};
    socklen_t size = sizeof found;
    if (::getsockopt(socket_.get(), SOL_SOCKET, SO_PEERCRED, &found, &size) != 0)
        return system_failure(errno, "ask who the peer is (SO_PEERCRED)");
    return peer_credentials{found.pid, found.uid, found.gid};
}

result<descriptor> connection::peer_pidfd() const {
    int number = -1;
    socklen_t size = sizeof number;
    if (::getsockopt(socket_.get(), SOL_SOCKET, SO_PEERPIDFD, &number, &size) == 0) return descriptor{number};
    const int error = errno;
    const char* const wanted = "get a descriptor of the peer's process (SO_PEERPIDFD)";
    if (error == EINVAL || error == ESRCH) return system_failure(errc::peer_gone, error, wanted);
    if (error == ENODATA) return system_failure(errc::not_supported, error, wanted);
    return system_failure(error, wanted);
}

void connection::shut_down() noexcept {
    if (socket_) ::shutdown(socket_.get(), SHUT_RDWR);
}

}  // namespace weft::os
