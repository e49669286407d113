#include "os/limits.hpp"

#include <dirent.h>
#include <sys/resource.h>

namespace weft::os {
namespace {

struct limit_row {
    limit which;
    __rlimit_resource resource;
    const char* name;
    bool in_bytes;
};

constexpr limit_row rows[] = {
    {limit::address_space, RLIMIT_AS, "RLIMIT_AS", true},
    {limit::data, RLIMIT_DATA, "RLIMIT_DATA", true},
    {limit::locked_memory, RLIMIT_MEMLOCK, "RLIMIT_MEMLOCK", true},
    {limit::descriptors, RLIMIT_NOFILE, "RLIMIT_NOFILE", false},
    {limit::file_size, RLIMIT_FSIZE, "RLIMIT_FSIZE", true},
};

const limit_row& row_of(limit which) noexcept {
    for (const limit_row& row : rows)
        if (row.which == which) return row;
    return rows[0];
}

std::string amount(const limit_row& row, std::uint64_t value) {
    if (value == unlimited) return "unlimited";
    return row.in_bytes ? size_text(value) : std::to_string(value);
}

}  // namespace

limit_value read_limit(limit which) noexcept {
    rlimit found{};
    if (::getrlimit(row_of(which).resource, &found) != 0) return {};
    static_assert(RLIM_INFINITY == unlimited);
    return {found.rlim_cur, found.rlim_max};
}

const char* name_of(limit which) noexcept { return row_of(which).name; }

std::string describe(limit which) {
    const limit_row& row = row_of(which);
    const limit_value value = read_limit(which);
    std::string text = std::string(row.name) + " is " + amount(row, value.soft);
    if (value.hard != value.soft) text += " (hard limit " + amount(row, value.hard) + ")";
    return text;
}

std::string size_text(std::uint64_t bytes) {
    struct unit {
        std::uint64_t size;
        const char* name;
    };
    constexpr unit units[] = {{1ull << 40, " TiB"}, {1ull << 30, " GiB"}, {1ull << 20, " MiB"}, {1ull << 10, " KiB"}};
    for (const unit& u : units)
        if (bytes >= u.size && bytes % u.size == 0) return std::to_string(bytes / u.size) + u.name;
    return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

int open_descriptors() noexcept {
    DIR* directory = ::opendir("/proc/self/fd");
    if (directory == nullptr) return -1;
    int count = 0;
    while (const dirent* entry = ::readdir(directory))
        if (entry->d_name[0] != '.') ++count;
    ::closedir(directory);
    return count - 1;  // not the one that is reading
}

}  // namespace weft::os
