// Resource limits of this process, as numbers and as text. They are read and never changed.
#pragma once
#include <cstdint>
#include <string>

namespace weft::os {

enum class limit {
    address_space,  // RLIMIT_AS
    data,           // RLIMIT_DATA
    locked_memory,  // RLIMIT_MEMLOCK
    descriptors,    // RLIMIT_NOFILE
    file_size,      // RLIMIT_FSIZE
};
inline constexpr std::uint64_t unlimited = ~std::uint64_t{0};

struct limit_value {
    std::uint64_t soft = unlimited;  // in force
    std::uint64_t hard = unlimited;  // how far the process may raise it
};

limit_value read_limit(limit) noexcept;
const char* name_of(limit) noexcept;  // "RLIMIT_NOFILE"

// "RLIMIT_NOFILE is 1024 (hard limit 4096)", "RLIMIT_AS is 64 MiB", "RLIMIT_AS is unlimited".
std::string describe(limit);
// "8 MiB" where it comes out even, else "8388609 bytes".
std::string size_text(std::uint64_t bytes);

// Number of descriptors this process has open, or -1 without /proc.
int open_descriptors() noexcept;

}  // namespace weft::os
