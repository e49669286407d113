// Copying from and to another process's memory in one system call (cross-memory attach).
//
// Whether it is allowed depends on ptrace permission and namespaces: try it against the real peer before relying on
// it. The pid must come from the live socket's credentials.
#pragma once
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include <weft/errc.hpp>

namespace weft::os {

enum class cross_memory_outcome {
    complete,
    not_permitted,  // EPERM: ptrace scope, user namespace, another user, or not dumpable
    process_gone,   // ESRCH
    bad_address,    // EFAULT: part of the range is not mapped there (or here); `copied` bytes before it were copied
    not_available,  // ENOSYS: the kernel lacks it; a filter may also answer EPERM
    failed,         // anything else; see `native`
};

struct cross_memory_result {
    cross_memory_outcome outcome = cross_memory_outcome::complete;
    std::size_t copied = 0;  // all of it if complete; else what is certainly there
    int native = 0;          // errno

    constexpr explicit operator bool() const noexcept { return outcome == cross_memory_outcome::complete; }
};

// Copies `size` bytes, repeating the call after partial transfers. Blocks while the peer's pages are brought in.
cross_memory_result read_from(pid_t pid, void* local, std::uint64_t remote, std::size_t size) noexcept;
cross_memory_result write_to(pid_t pid, const void* local, std::uint64_t remote, std::size_t size) noexcept;

// The code for a data path, and a sentence for people (with the host's ptrace scope where that may be the cause).
errc code_of(cross_memory_outcome) noexcept;
std::string explain(const cross_memory_result&);

}  // namespace weft::os
