#include "base/edit_distance.hpp"

#include <algorithm>
#include <array>

namespace weft::base {
namespace {

constexpr std::size_t length_max = 64;  // as long as any name of ours; bounds the rows below
constexpr std::size_t edits_max = 3;    // beyond three slips it is another word

char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool equal_but_for_case(std::string_view a, std::string_view b) noexcept {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) noexcept {
    if (a.size() > length_max || b.size() > length_max)
        return equal_but_for_case(a, b) ? 0 : std::max(a.size(), b.size());

    // Three rows of the usual table: a swap looks back two.
    std::array<std::array<std::size_t, length_max + 1>, 3> rows{};
    auto *before = &rows[0], *above = &rows[1], *row = &rows[2];
    for (std::size_t j = 0; j <= b.size(); ++j) (*above)[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        (*row)[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = (*above)[j - 1] + (lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1);
            std::size_t best = std::min({(*above)[j] + 1, (*row)[j - 1] + 1, replaced});
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]))
                best = std::min(best, (*before)[j - 2] + 1);
            (*row)[j] = best;
        }
        std::swap(before, above);
        std::swap(above, row);
    }
    return (*above)[b.size()];
}

std::string_view nearest(std::string_view name, std::span<const std::string_view> candidates) noexcept {
    std::size_t best_distance = std::min(name.size() / 3, edits_max) + 1;
    std::string_view best;
    for (const std::string_view candidate : candidates) {
        const std::size_t distance = edit_distance(name, candidate);
        if (candidate.empty() || distance >= best_distance) continue;
        best_distance = distance;
        best = candidate;
    }
    return best;
}

}  // namespace weft::base
