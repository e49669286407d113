#include "os/mapping.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "os/descriptor.hpp"
#include "os/error.hpp"
#include "os/limits.hpp"

namespace weft::os {

std::size_t page_size() noexcept { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

result<mapping> mapping::map(int fd, std::size_t size, protection access, int flags, std::uint64_t offset) {
    const int bits = access == protection::read_write ? PROT_READ | PROT_WRITE : PROT_READ;
    void* at = ::mmap(nullptr, size, bits, flags, fd, static_cast<off_t>(offset));
    if (at != MAP_FAILED) return mapping{static_cast<std::byte*>(at), size};
    const int error = errno;
    std::string wanted = "map " + size_text(size) + (fd < 0 ? " of private memory" : " of shared memory");
    if (access == protection::read_write && error == EACCES) wanted += " for writing (the descriptor is read-only)";
    return system_failure(error, std::move(wanted));
}

result<mapping> mapping::anonymous(std::size_t size) {
    return map(-1, size, protection::read_write, MAP_PRIVATE | MAP_ANONYMOUS, 0);
}

result<mapping> mapping::shared(const descriptor& file, std::size_t size, protection access, std::uint64_t offset) {
    if (!file) return plain_failure(errc::invalid_argument, "cannot map shared memory: there is no descriptor");
    return map(file.get(), size, access, MAP_SHARED, offset);
}

void mapping::unmap() noexcept {
    if (data_ == nullptr) return;
    const int error = errno;
    ::munmap(std::exchange(data_, nullptr), std::exchange(size_, 0));
    errno = error;
}

result<void> mapping::wipe_on_fork() {
    if (::madvise(data_, size_, MADV_WIPEONFORK) != 0)
        return system_failure(errno, "have " + size_text(size_) + " wiped in forked children (MADV_WIPEONFORK)");
    return {};
}

result<void> mapping::omit_on_fork() {
    if (::madvise(data_, size_, MADV_DONTFORK) != 0)
        return system_failure(errno, "keep " + size_text(size_) + " from forked children (MADV_DONTFORK)");
    return {};
}

}  // namespace weft::os
