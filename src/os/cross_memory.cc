#include "os/cross_memory.hpp"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "os/descriptor.hpp"

namespace weft::os {
namespace {

using transfer_call = ssize_t (*)(pid_t, const iovec*, unsigned long, const iovec*, unsigned long, unsigned long);

cross_memory_outcome outcome_of(int error) noexcept {
    switch (error) {
        case EPERM: return cross_memory_outcome::not_permitted;
        case ESRCH: return cross_memory_outcome::process_gone;
        case EFAULT: return cross_memory_outcome::bad_address;
        case ENOSYS: return cross_memory_outcome::not_available;
        default: return cross_memory_outcome::failed;
    }
}

cross_memory_result transfer(transfer_call call, pid_t pid, std::byte* local, std::uint64_t remote,
                             std::size_t size) noexcept {
    // Pid 0 stands for a process without a number in our namespace, and for the kernel it would not be ESRCH
    // everywhere.
    if (pid <= 0) return {cross_memory_outcome::process_gone, 0, ESRCH};
    if (remote + size < remote) return {cross_memory_outcome::bad_address, 0, EFAULT};
    std::size_t done = 0;
    while (done < size) {
        const iovec here{local + done, size - done};
        const iovec there{reinterpret_cast<void*>(remote + done), size - done};
        // A call moves at most 2 GiB - 4 KiB, and stops early at the first page that is not there.
        const ssize_t moved = call(pid, &here, 1, &there, 1, 0);
        if (moved < 0 && errno == EINTR) continue;
        if (moved < 0) return {outcome_of(errno), done, errno};
        if (moved == 0) return {cross_memory_outcome::bad_address, done, EFAULT};  // no progress is no success
        done += static_cast<std::size_t>(moved);
    }
    return {cross_memory_outcome::complete, done, 0};
}

// The value of Yama's setting, or 0 without Yama, '?' where it cannot be read.
char ptrace_scope() noexcept {
    const descriptor file{::open("/proc/sys/kernel/yama/ptrace_scope", O_RDONLY | O_CLOEXEC)};
    if (!file) return errno == ENOENT ? '0' : '?';
    char value = '?';
    return ::read(file.get(), &value, 1) == 1 ? value : '?';
}

}  // namespace

cross_memory_result read_from(pid_t pid, void* local, std::uint64_t remote, std::size_t size) noexcept {
    return transfer(::process_vm_readv, pid, static_cast<std::byte*>(local), remote, size);
}

cross_memory_result write_to(pid_t pid, const void* local, std::uint64_t remote, std::size_t size) noexcept {
    // The kernel's iovec has no const form; this call only reads from the local side.
    auto* const from = static_cast<std::byte*>(const_cast<void*>(local));
    return transfer(::process_vm_writev, pid, from, remote, size);
}

errc code_of(cross_memory_outcome outcome) noexcept {
    switch (outcome) {
        case cross_memory_outcome::complete: return errc::ok;
        case cross_memory_outcome::not_permitted: return errc::permission_denied;
        case cross_memory_outcome::process_gone: return errc::peer_gone;
        case cross_memory_outcome::bad_address: return errc::invalid_argument;
        case cross_memory_outcome::not_available: return errc::not_supported;
        case cross_memory_outcome::failed: return errc::system_error;
    }
    return errc::system_error;
}

std::string explain(const cross_memory_result& result) {
    switch (result.outcome) {
        case cross_memory_outcome::complete: return "cross-memory attach works";
        case cross_memory_outcome::not_permitted: {
            std::string text = "cross-memory attach to the peer is not permitted: ";
            const char scope = ptrace_scope();
            if (scope != '0')
                return text + "kernel.yama.ptrace_scope is " + scope +
                       "; set it to 0 or give the process CAP_SYS_PTRACE";
            return text +
                   "it runs as another user or in another user namespace, is not dumpable, or a system call "
                   "filter forbids process_vm_readv";
        }
        case cross_memory_outcome::process_gone:
            return "cross-memory attach: the peer's process does not exist any more";
        case cross_memory_outcome::bad_address:
            return "cross-memory attach: memory is not mapped after the first " + std::to_string(result.copied) +
                   " bytes";
        case cross_memory_outcome::not_available:
            return "cross-memory attach is not available: the kernel was built without CONFIG_CROSS_MEMORY_ATTACH";
        case cross_memory_outcome::failed: break;
    }
    return "cross-memory attach failed: " + std::generic_category().message(result.native);
}

}  // namespace weft::os
