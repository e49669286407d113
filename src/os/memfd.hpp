// Shareable memory without a name in any file system: it is gone when the last process that has it is gone.
//
// The size is sealed by its creator, and whoever receives one checks that seal: then no peer can cut the file under
// our mapping, and touching the mapping cannot raise SIGBUS.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include <weft/result.hpp>

#include "os/descriptor.hpp"

namespace weft::os {

enum class reserve {
    on_touch,  // pages come with the first touch; where memory is exhausted then, the kernel's OOM killer decides
    now,       // all pages at once: exhaustion is a failure here and not an event later
};

// A read-write memfd of exactly `size` bytes (> 0), sealed against shrinking, growing and further seals. `name` shows
// in /proc/<pid>/fd as "/memfd:<name>" (at most 249 characters).
result<descriptor> create_memfd(const std::string& name, std::size_t size, reserve = reserve::on_touch);

// A second descriptor of the same memory that can only be mapped read-only: what a peer gets that must not write.
// Needs /proc.
result<descriptor> reopen_read_only(const descriptor& memfd);

// For a descriptor that came from a peer: passes if it is memory (not a disk file, not huge pages, whose absence
// would raise SIGBUS), sealed against shrinking, and of exactly the announced size. errc::protocol_error otherwise.
result<void> check_sealed(const descriptor& received, std::uint64_t announced_size);

}  // namespace weft::os
