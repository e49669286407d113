// "Did you mean ...?": the nearest known name to one that was mistyped.
#pragma once
#include <cstddef>
#include <span>
#include <string_view>

namespace weft::base {

// Edits (insert, delete, replace, swap of two neighbours) that turn one into the other; ASCII case is ignored.
// The optimal-string-alignment form of the Damerau-Levenshtein distance: "tpc" and "tcp" are 1 apart. Names longer
// than 64 characters are compared for equality only, and are as far apart as the longer one is long.
std::size_t edit_distance(std::string_view a, std::string_view b) noexcept;

// The candidate with the smallest distance, the first of several; empty if none is within a third of the name's
// length (at most 3 edits), beyond which a suggestion is noise.
std::string_view nearest(std::string_view name, std::span<const std::string_view> candidates) noexcept;

}  // namespace weft::base
