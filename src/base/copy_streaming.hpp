// Copy that does not leave the destination in this processor's caches.
//
// For data that another processor reads next: where the two share no cache, a line that has gone to memory is fetched
// faster than one that is dirty in the writer's cache. Where they share one, the ordinary copy is faster; so measure.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <emmintrin.h>

namespace weft::base {

// `to` is aligned to 16 bytes. All of it is visible to whoever sees a later store of this thread.
inline void copy_streaming(std::byte* to, const std::byte* from, std::size_t n) noexcept {
    std::size_t at = 0;
    for (; at + 64 <= n; at += 64) {
        const auto* const in = reinterpret_cast<const __m128i*>(from + at);
        auto* const out = reinterpret_cast<__m128i*>(to + at);
        const __m128i a = _mm_loadu_si128(in), b = _mm_loadu_si128(in + 1);
        const __m128i c = _mm_loadu_si128(in + 2), d = _mm_loadu_si128(in + 3);
        _mm_stream_si128(out, a);
        _mm_stream_si128(out + 1, b);
        _mm_stream_si128(out + 2, c);
        _mm_stream_si128(out + 3, d);
    }
    std::memcpy(to + at, from + at, n - at);
    _mm_sfence();  // streaming stores are not ordered with the one that publishes the data
}

}  // namespace weft::base
