// Local sockets that carry whole datagrams, descriptors and the kernel's word on who the peer is.
//
// SOCK_SEQPACKET, non-blocking, close-on-exec. This is how two processes meet and how one notices that the other is
// gone; it is not a data path.
#pragma once
#include <sys/socket.h>
#include <sys/types.h>

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include <weft/result.hpp>

#include "os/descriptor.hpp"

namespace weft::os {

// Where a listener can be found: a name in the abstract namespace (of the network namespace; disappears with the
// socket), or a path in a file system. Both at most 107 bytes, not empty, and without zero bytes.
struct socket_name {
    enum class space {
        abstract,
        path,
    };
    space where = space::abstract;
    std::string text;

    static socket_name abstract(std::string_view name) { return {space::abstract, std::string(name)}; }
    static socket_name path(std::string_view name) { return {space::path, std::string(name)}; }
};
// "@name" or the path, for people.
std::string to_text(const socket_name&);

// What the kernel noted when the peer called connect() or listen(). Fields are translated into our namespaces:
// a pid that has no number here is 0, a user without one is 65534.
struct peer_credentials {
    pid_t pid = 0;
    uid_t uid = 0;
    gid_t gid = 0;
};

// As many as one datagram may carry here: the memory and event descriptors of one side, with room to spare. The
// kernel's own limit is 253.
inline constexpr std::size_t descriptors_max = 16;

struct datagram {
    std::size_t size = 0;  // bytes written to the caller's room
    std::size_t descriptor_count = 0;
    bool descriptors_lost = false;  // some came for which this process has no number free (RLIMIT_NOFILE)
    std::array<descriptor, descriptors_max> descriptors;  // the first descriptor_count; those not taken are closed
};

class connection {
  public:
    connection() = default;
    // For both ends in one process, as in tests.
    static result<std::array<connection, 2>> pair();
    // Takes over a SOCK_SEQPACKET socket and makes it non-blocking.
    static result<connection> adopt(descriptor socket);

    // All of `bytes` (not empty) as one datagram, with up to descriptors_max descriptors, which stay ours.
    // Errors: try_again (the peer's buffer is full; poll for writable), peer_gone, message_too_long (beyond what the
    // socket buffer takes), no_descriptors (too many are in flight).
    result<void> send(std::span<const std::byte> bytes, std::span<const int> descriptors = {});
    // One datagram. Errors: try_again (nothing there; poll for readable), peer_gone (closed or dead, and everything
    // sent before has been received), truncated (larger than `room`; it is lost), protocol_error (more descriptors than
    // descriptors_max). With an error every descriptor that arrived has been closed.
    result<datagram> receive(std::span<std::byte> room);

    result<peer_credentials> credentials() const;
    // A descriptor of the very process that connected, immune to reuse of its pid; becomes readable when it exits.
    // errc::not_supported before Linux 6.5, peer_gone if it has been reaped already.
    result<descriptor> peer_pidfd() const;

    // Tells the peer at once, even where a forked child still holds a duplicate.
    void shut_down() noexcept;
    const descriptor& file() const noexcept { return socket_; }
    explicit operator bool() const noexcept { return static_cast<bool>(socket_); }

  private:
    friend class listener;
    explicit connection(descriptor socket) noexcept : socket_(std::move(socket)) {}
    friend result<connection> connect_to(const socket_name&);

    descriptor socket_;
};

// Errors: peer_unreachable (no listener of that name, or a stale path), try_again (its backlog is full),
// permission_denied (on the path), invalid_argument (the name itself).
result<connection> connect_to(const socket_name& name);

class listener {
  public:
    listener() = default;
    listener(listener&& other) noexcept;
    listener& operator=(listener&& other) noexcept;
    // Removes the path if it is still ours and this is the process that made it.
    ~listener() { close(); }

    // Errors: permission_denied, invalid_argument, and system_error with EADDRINUSE if a living process listens there
    // or the path is something else than a socket. A path whose owner died is recognised (nobody answers a connect)
    // and replaced; a living owner sees one connection that closes at once.
    static result<listener> open(const socket_name& name, int backlog);

    // Errors: try_again if nobody waits; no_descriptors, and then the caller stays queued and readiness stays on: stop
    // watching until a descriptor is free.
    result<connection> accept();
    void close() noexcept;

    const socket_name& name() const noexcept { return name_; }
    const descriptor& file() const noexcept { return socket_; }
    explicit operator bool() const noexcept { return static_cast<bool>(socket_); }

  private:
    result<void> bind_to(const sockaddr* address, socklen_t size);

    descriptor socket_;
    socket_name name_;
    dev_t device_ = 0;  // the path's inode, so that close() removes no successor's socket
    ino_t inode_ = 0;
    pid_t owner_ = 0;
};

}  // namespace weft::os
