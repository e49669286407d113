// Copy of 0 to 48 bytes without a call: what an inline payload or a message header needs.
//
// Made of constant-size moves that may overlap each other, so no byte outside the two ranges is read or written.
#pragma once
#include <cstddef>
#include <cstdint>

namespace weft::base {

// 48: three 16-byte registers, the payload beside a 16-byte header in a 64-byte cache line.
inline constexpr std::size_t copy_small_max = 48;

namespace detail {

struct sixteen_bytes {
    std::uint64_t half[2];
};

template <class Word>
inline Word load(const std::byte* from) noexcept {
    Word word;
    __builtin_memcpy(&word, from, sizeof word);
    return word;
}
template <class Word>
inline void store(std::byte* to, Word word) noexcept {
    __builtin_memcpy(to, &word, sizeof word);
}
// First and last `sizeof(Word)` bytes: covers every n from sizeof(Word) to twice that.
template <class Word>
inline void copy_ends(std::byte* to, const std::byte* from, std::size_t n) noexcept {
    const Word first = load<Word>(from);
    const Word last = load<Word>(from + n - sizeof(Word));
    store(to, first);
    store(to + n - sizeof(Word), last);
}

}  // namespace detail

// Requires n <= copy_small_max, and that the ranges do not overlap. Pointers may be null when n is 0. Eight bytes and a
// little more are tried first: the most frequent payloads. Uses few registers, so that a function that contains it
// need not save any.
[[gnu::always_inline]] inline void copy_small(std::byte* to, const std::byte* from, std::size_t n) noexcept {
    using namespace detail;
    if (n - 8 <= 8) {
        copy_ends<std::uint64_t>(to, from, n);
    } else if (n > 16) {
        // Up to 32 bytes the middle is the tail again: a conditional move instead of a branch that mixed sizes miss.
        const std::size_t tail = n - 16;
        const std::size_t middle = tail < 16 ? tail : 16;
        store(to, load<sixteen_bytes>(from));
        store(to + middle, load<sixteen_bytes>(from + middle));
        store(to + tail, load<sixteen_bytes>(from + tail));
    } else if (n >= 4) {
        copy_ends<std::uint32_t>(to, from, n);
    } else if (n != 0) {
        // First, middle and last byte cover 1, 2 and 3.
        to[0] = from[0];
        to[n / 2] = from[n / 2];
        to[n - 1] = from[n - 1];
    }
}

}  // namespace weft::base
