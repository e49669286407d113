#include "os/memfd.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <limits>

#include "os/error.hpp"
#include "os/limits.hpp"

// Linux 6.3; absent from the C library's headers of that age.
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

namespace weft::os {
namespace {

// Not executable, which hosts with vm.memfd_noexec=2 insist on; older kernels do not know the flag.
int create_not_executable(const char* name) noexcept {
    const unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
    const int fd = ::memfd_create(name, flags | MFD_NOEXEC_SEAL);
    return fd < 0 && errno == EINVAL ? ::memfd_create(name, flags) : fd;
}

// A file larger than RLIMIT_FSIZE would cost us not an error but a SIGXFSZ.
result<void> check_size(std::size_t size) {
    if (size == 0 || size > static_cast<std::size_t>(std::numeric_limits<off_t>::max()))
        return plain_failure(errc::invalid_argument, "cannot create shared memory of " + size_text(size) +
                                                         ": the size must be from 1 to 2^63-1");
    if (size > read_limit(limit::file_size).soft)
        return failure{errc::no_memory, EFBIG,
                       "cannot create shared memory of " + size_text(size) + ": " + describe(limit::file_size) +
                           " and counts here too; raise it with 'ulimit -f' or ask for less"};
    return {};
}

int allocate(int fd, off_t size) noexcept {
    int answer = 0;
    do {
        answer = ::fallocate(fd, 0, 0, size);
    } while (answer != 0 && errno == EINTR);  // a signal; what was allocated is undone, so it starts over
    return answer;
}

failure not_acceptable(std::string what) {
    return plain_failure(errc::protocol_error,
                         "cannot use the shared memory that the peer handed over: " + std::move(what));
}

}  // namespace

result<descriptor> create_memfd(const std::string& name, std::size_t size, reserve when) {
    if (auto fits = check_size(size); !fits) return fits.error();
    const std::string wanted = "create shared memory '" + name + "' of " + size_text(size);
    descriptor file{create_not_executable(name.c_str())};
    if (!file) return system_failure(errno, wanted);
    if (::ftruncate(file.get(), static_cast<off_t>(size)) != 0) return system_failure(errno, wanted);
    if (when == reserve::now && allocate(file.get(), static_cast<off_t>(size)) != 0)
        return system_failure(errno, wanted + " with all pages reserved");
    if (::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
        return system_failure(errno, wanted + " and seal its size");
    return file;
}

result<descriptor> reopen_read_only(const descriptor& memfd) {
    const std::string path = "/proc/self/fd/" + std::to_string(memfd.get());
    descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    if (!file) {
        const int error = errno;
        return system_failure(error == ENOENT ? errc::not_supported : code_of(error), error,
                              "open shared memory again for reading only through " + path + " (is /proc mounted?)");
    }
    return file;
}

result<void> check_sealed(const descriptor& received, std::uint64_t announced_size) {
    struct stat file{};
    struct statfs system{};
    if (::fstat(received.get(), &file) != 0 || ::fstatfs(received.get(), &system) != 0) {
        const int error = errno;
        return system_failure(errc::protocol_error, error, "look at the shared memory that the peer handed over");
    }
    if (!S_ISREG(file.st_mode) || system.f_type != TMPFS_MAGIC) return not_acceptable("it is not a memfd");
    const int seals = ::fcntl(received.get(), F_GET_SEALS);
    if (seals < 0 || (seals & F_SEAL_SHRINK) == 0)
        return not_acceptable(
            "it is not sealed against shrinking (F_SEAL_SHRINK), so it could be cut off under our feet");
    if (static_cast<std::uint64_t>(file.st_size) != announced_size)
        return not_acceptable("it has " + size_text(static_cast<std::uint64_t>(file.st_size)) + " where " +
                              size_text(announced_size) + " were announced");
    return {};
}

}  // namespace weft::os
