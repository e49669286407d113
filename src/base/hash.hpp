// Hash of a 64-bit key for tables whose size is a power of two: mask the low bits of the answer.
//
// Made for tags: equal strides, counters in any part of the word and (context, rank, number) fields must spread.
// Not keyed, so it is no defence against somebody who chooses colliding keys on purpose.
#pragma once
#include <cstdint>

#ifdef __SSE4_2__
#include <nmmintrin.h>
#endif

namespace weft::base {

// For any machine: 2^64 divided by the golden ratio (Knuth, TAOCP 3, section 6.4). The product is good in its upper
// bits, hence the byte swap.
constexpr std::uint64_t multiply_hash(std::uint64_t key) noexcept {
    return __builtin_bswap64(key * 0x9e3779b97f4a7c15u);
}

// 0 for key 0 (a key that never changes costs nothing, and hash_pair counts on it).
inline std::uint64_t hash_key(std::uint64_t key) noexcept {
    if (__builtin_constant_p(key) && key == 0) return 0;
#ifdef __SSE4_2__
    // CRC-32C: one instruction, three cycles. It is linear over bits, so a set of tags that differ in m bits falls
    // into 2^m buckets or, when the m columns of its matrix are dependent, a small power of two fewer.
    return _mm_crc32_u64(0, key);
#else
    return multiply_hash(key);
#endif
}

// Of two keys. Equals hash_key(first) when second is 0.
inline std::uint64_t hash_pair(std::uint64_t first, std::uint64_t second) noexcept {
    // Hashing `second` by itself first keeps first == second from cancelling out.
    return hash_key(first ^ hash_key(second));
}

}  // namespace weft::base
