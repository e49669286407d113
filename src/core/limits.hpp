// Every bound of the core, with its reason.
#pragma once
#include <cstddef>
#include <cstdint>

namespace weft::core::limits {

// A settings file holds some dozens of short lines; larger is a mistaken path, and reading is bounded by it.
inline constexpr std::size_t settings_file_bytes = 64 * 1024;
// The longest useful value is a list of directories; PATH_MAX is 4096.
inline constexpr std::size_t setting_value_bytes = 4096;
// Complaints kept per fabric; a file of rubbish must not become a wall of text.
inline constexpr std::size_t warnings = 100;

// Texts the log remembers in order to show each once. Direct mapped, so a newer text may displace an older one.
inline constexpr std::size_t remembered_texts = 256;
// Lines other than debug that may be shown in one go, and per second afterwards: more than anyone reads, less than
// fills a disk.
inline constexpr std::uint64_t log_burst = 200;
inline constexpr std::uint64_t log_lines_per_second = 20;
// A repeated text is shown again, with its count, at the 100th time and then at each further power of ten.
inline constexpr std::uint64_t first_repeat_shown = 100;
// One line of the default sink, cut beyond it; a pipe takes this much in one piece (PIPE_BUF).
inline constexpr std::size_t log_line_bytes = 4096;

// Names of providers are schemes of addresses and prefixes of settings: short.
inline constexpr std::size_t provider_name_bytes = 31;
// A plug-in with more than that has a wrong count.
inline constexpr std::size_t providers_per_plugin = 64;
inline constexpr std::size_t settings_per_provider = 256;
// Libraries looked at per directory: the path may be wrong, and each costs a dlopen.
inline constexpr std::size_t plugins_per_directory = 256;

// Address texts given to resolve: longer than every known form (an IPv6 address with scope and port is under 80).
inline constexpr std::size_t address_text_bytes = 1024;

}  // namespace weft::core::limits
