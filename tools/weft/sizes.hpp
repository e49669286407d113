// Message sizes and counts as people write them: "64", "4K", "1:4M", "8,64,4K".
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "weft/result.hpp"

namespace weft::tool {

// A number with an optional suffix K, M, G or T (powers of 1,024, also written Ki, KiB, kB).
result<std::uint64_t> parse_size(std::string_view text);

// A list of sizes and ranges; "1:4M" doubles from 1 and always includes its end. Ascending, each once.
result<std::vector<std::uint64_t>> parse_sizes(std::string_view text);

// First to last by doubling.
std::vector<std::uint64_t> doubling(std::uint64_t first, std::uint64_t last);

// "8 B", "4 KiB", "1.5 MiB": for people.
std::string size_text(std::uint64_t bytes);

}  // namespace weft::tool
