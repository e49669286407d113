// The bytes --check sends and expects: they depend on the transfer's number and on the position, so that a message
// that is lost, doubled, swapped, shifted or torn shows.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace weft::tool {

// Eight bytes of the pattern, by the finaliser of splitmix64 (Steele, Lea, Flood 2014).
constexpr std::uint64_t pattern_word(std::uint64_t sequence, std::uint64_t word) noexcept {
    std::uint64_t z = sequence * 0x9e3779b97f4a7c15u + word;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

inline void fill_pattern(std::span<std::byte> to, std::uint64_t sequence) noexcept {
    std::size_t at = 0;
    for (std::uint64_t word = 0; at < to.size(); ++word, at += sizeof word) {
        const std::uint64_t bits = pattern_word(sequence, word);
        std::memcpy(to.data() + at, &bits, to.size() - at < sizeof bits ? to.size() - at : sizeof bits);
    }
}

// Position of the first byte that is not the pattern's.
inline std::optional<std::size_t> find_mismatch(std::span<const std::byte> in, std::uint64_t sequence) noexcept {
    std::size_t at = 0;
    for (std::uint64_t word = 0; at < in.size(); ++word, at += sizeof word) {
        const std::uint64_t bits = pattern_word(sequence, word);
        const std::size_t n = in.size() - at < sizeof bits ? in.size() - at : sizeof bits;
        if (std::memcmp(in.data() + at, &bits, n) == 0) continue;
        const auto* expected = reinterpret_cast<const std::byte*>(&bits);
        for (std::size_t i = 0; i < n; ++i)
            if (in[at + i] != expected[i]) return at + i;
    }
    return {};
}

}  // namespace weft::tool
