#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <ctime>

#include "os/error.hpp"
#include "os/unix_socket.hpp"

namespace weft::os {
namespace {

struct raw_address {
    sockaddr_un address{};
    socklen_t size = 0;

    const sockaddr* pointer() const noexcept { return reinterpret_cast<const sockaddr*>(&address); }
};

// One byte of sun_path goes to the zero in front of an abstract name, or behind a path.
constexpr std::size_t name_max = sizeof(sockaddr_un::sun_path) - 1;

result<raw_address> encode(const socket_name& name) {
    if (name.text.empty() || name.text.size() > name_max || name.text.find('\0') != std::string::npos)
        return plain_failure(errc::invalid_argument, "cannot use the socket name '" + name.text + "' of " +
                                                         std::to_string(name.text.size()) +
                                                         " bytes: it must have 1 to " + std::to_string(name_max) +
                                                         " bytes, none of them zero; choose a shorter directory");
    raw_address raw;
    raw.address.sun_family = AF_UNIX;
    const bool abstract = name.where == socket_name::space::abstract;
    std::memcpy(raw.address.sun_path + (abstract ? 1 : 0), name.text.data(), name.text.size());
    raw.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.text.size());
    return raw;
}

result<descriptor> new_socket() {
    descriptor socket{::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    if (!socket) return system_failure(errno, "create a local socket");
    return socket;
}

int connect_retrying(int socket, const raw_address& to) noexcept {
    while (::connect(socket, to.pointer(), to.size) != 0)
        if (errno != EINTR) return errno;
    return 0;
}

// Serialises those who find the same stale path, so that nobody removes the fresh socket of somebody else. The lock
// is on the directory itself: no extra file, and it goes with its process. Others hold it for microseconds; a second
// of trying (1,000 times 1 ms) means that somebody keeps it for purposes of their own.
result<descriptor> lock_directory(const std::string& path) {
    constexpr int attempts = 1000;
    constexpr timespec one_ms{0, 1'000'000};
    const std::size_t slash = path.rfind('/');
    const std::string directory = slash == std::string::npos ? "." : path.substr(0, slash == 0 ? 1 : slash);
    descriptor held{::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (!held) {
        const int error = errno;
        const bool missing = error == ENOENT || error == ENOTDIR;
        return system_failure(missing ? errc::invalid_argument : code_of(error), error,
                              "open the directory '" + directory + "' of the socket path");
    }
    for (int i = 0; ::flock(held.get(), LOCK_EX | LOCK_NB) != 0; ++i) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return system_failure(errno, "lock the directory '" + directory + "'");
        if (i == attempts)
            return plain_failure(errc::timed_out, "cannot listen on '" + path +
                                                      "': another process keeps the directory '" + directory +
                                                      "' locked (flock)");
        ::nanosleep(&one_ms, nullptr);
    }
    return held;
}

failure in_use(const socket_name& name, const char* why) {
    return {errc::system_error, EADDRINUSE, "cannot listen on '" + to_text(name) + "': " + why};
}

// Removes the path if it is a socket on which nobody listens.
result<void> remove_stale(const socket_name& name, const raw_address& at) {
    struct stat found{};
    if (::lstat(name.text.c_str(), &found) != 0) {
        if (errno == ENOENT) return {};  // gone meanwhile
        return system_failure(errno, "look at '" + name.text + "'");
    }
    if (!S_ISSOCK(found.st_mode))
        return in_use(name, "the path exists and is not a socket; remove it or choose another");
    auto probe = new_socket();
    if (!probe) return probe.error();
    const int error = connect_retrying(probe->get(), at);
    if (error == ENOENT) return {};
    if (error == EACCES || error == EPERM)
        return system_failure(error, "tell whether somebody listens on '" + name.text + "'");
    if (error != ECONNREFUSED) return in_use(name, "a living process listens there");
    if (::unlink(name.text.c_str()) != 0 && errno != ENOENT)
        return system_failure(errno, "remove the stale socket '" + name.text + "'");
    return {};
}

}  // namespace

std::string to_text(const socket_name& name) {
    return name.where == socket_name::space::abstract ? "@" + name.text : name.text;
}

result<connection> connect_to(const socket_name& name) {
    const auto to = encode(name);
    if (!to) return to.error();
    auto socket = new_socket();
    if (!socket) return socket.error();
    const int error = connect_retrying(socket->get(), *to);
    if (error == 0) return connection{*std::move(socket)};
    std::string wanted = "connect to '" + to_text(name) + "'";
    switch (error) {
        case ECONNREFUSED:
        case ENOENT:
        case ENOTDIR: return system_failure(errc::peer_unreachable, error, wanted + " (nobody listens there)");
        case EPROTOTYPE:
            return system_failure(errc::peer_unreachable, error, wanted + " (something else listens there)");
        case EAGAIN:
            return failure{errc::try_again, error,
                           "cannot " + wanted + " now: its queue of callers is full; try again"};
        default: return system_failure(error, wanted);
    }
}

listener::listener(listener&& other) noexcept
    : socket_(std::move(other.socket_)),
      name_(std::move(other.name_)),
      device_(other.device_),
      inode_(std::exchange(other.inode_, 0)),
      owner_(other.owner_) {}

listener& listener::operator=(listener&& other) noexcept {
    if (this != &other) {
        close();
        socket_ = std::move(other.socket_);
        name_ = std::move(other.name_);
        device_ = other.device_;
        inode_ = std::exchange(other.inode_, 0);
        owner_ = other.owner_;
    }
    return *this;
}

result<listener> listener::open(const socket_name& name, int backlog) {
    const auto at = encode(name);
    if (!at) return at.error();
    auto socket = new_socket();
    if (!socket) return socket.error();
    listener made;
    made.socket_ = *std::move(socket);
    made.name_ = name;

    descriptor lock;  // held until we listen: before that, our own socket looks stale to others
    if (name.where == socket_name::space::path) {
        auto locked = lock_directory(name.text);
        if (!locked) return locked.error();
        lock = *std::move(locked);
    }
    if (auto bound = made.bind_to(at->pointer(), at->size); !bound) return bound.error();
    if (::listen(made.socket_.get(), backlog) != 0) return system_failure(errno, "listen on '" + to_text(name) + "'");
    return made;
}

result<void> listener::bind_to(const sockaddr* address, socklen_t size) {
    const bool path = name_.where == socket_name::space::path;
    // A second attempt follows the removal of a stale socket; a third would mean that somebody ignores the lock.
    for (int attempt = 0; ::bind(socket_.get(), address, size) != 0; ++attempt) {
        const int error = errno;
        if (error != EADDRINUSE) return system_failure(error, "listen on '" + to_text(name_) + "'");
        if (!path || attempt > 0) return in_use(name_, "a living process listens there");
        raw_address at;
        std::memcpy(&at.address, address, size);
        at.size = size;
        if (auto removed = remove_stale(name_, at); !removed) return removed;
    }
    if (!path) return {};
    struct stat ours{};
    if (::lstat(name_.text.c_str(), &ours) != 0) return system_failure(errno, "look at '" + name_.text + "'");
    device_ = ours.st_dev;
    inode_ = ours.st_ino;
    owner_ = ::getpid();
    return {};
}

result<connection> listener::accept() {
    for (;;) {
        descriptor socket{::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)};
        if (socket) return connection{std::move(socket)};
        const int error = errno;
        if (error == EINTR || error == ECONNABORTED) continue;
        if (error == EAGAIN) return failure{errc::try_again, error, "nobody waits to be accepted"};
        return system_failure(error, "accept a connection on '" + to_text(name_) + "'");
    }
}

void listener::close() noexcept {
    // The path goes first: while the socket still listens, nobody can take the path for stale and put theirs there.
    if (socket_ && inode_ != 0 && owner_ == ::getpid()) {
        struct stat found{};
        if (::lstat(name_.text.c_str(), &found) == 0 && found.st_dev == device_ && found.st_ino == inode_)
            ::unlink(name_.text.c_str());
    }
    inode_ = 0;
    socket_.close();
}

}  // namespace weft::os
