// Tags as programs build them must spread over the buckets, with either hash.
#include "base/hash.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace {

using weft::base::hash_key;
using weft::base::hash_pair;
using weft::base::multiply_hash;

constexpr std::uint64_t bucket_count = 16384;

// The longest chain when the keys fill the table to at most 1.
template <class Hash>
unsigned longest_chain(const std::vector<std::uint64_t>& keys, Hash hash) {
    std::vector<unsigned> load(bucket_count);
    for (const std::uint64_t key : keys) ++load[(hash(key) >> 3) & (bucket_count - 1)];  // posted_list drops three bits
    return *std::max_element(load.begin(), load.end());
}

template <class Hash>
void check_patterns(Hash hash) {
    for (unsigned shift = 0; shift <= 50; ++shift) {
        for (const std::uint64_t stride : {1u, 3u, 7u, 10u, 100u, 1000u, 4095u, 4097u, 65535u}) {
            std::vector<std::uint64_t> keys;
            for (std::uint64_t i = 0; i < 10000; ++i) keys.push_back((i * stride) << shift);
            std::sort(keys.begin(), keys.end());
            keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
            EXPECT_LE(longest_chain(keys, hash), 24u) << "stride " << stride << " << " << shift;
        }
    }
    for (unsigned shift = 8; shift <= 48; ++shift) {  // (rank, number), both counting
        std::vector<std::uint64_t> keys;
        for (std::uint64_t rank = 0; rank < 100; ++rank)
            for (std::uint64_t number = 0; number < 100; ++number) keys.push_back((rank << shift) | number);
        EXPECT_LE(longest_chain(keys, hash), 24u) << "rank << " << shift;
    }
}

TEST(Hash, TagPatternsSpread) {
    check_patterns([](std::uint64_t key) { return hash_key(key); });
}

TEST(Hash, TagPatternsSpreadWithThePortableHash) {
    check_patterns([](std::uint64_t key) { return multiply_hash(key); });
}

TEST(Hash, ZeroIsZeroAndPairExtendsKey) {
    volatile std::uint64_t zero = 0;  // not known to the compiler: the other branch of hash_key
    EXPECT_EQ(hash_key(zero), 0u);
    EXPECT_EQ(hash_key(0), 0u);
    EXPECT_EQ(multiply_hash(0), 0u);
    for (std::uint64_t key : {1ull, 77ull, ~0ull}) EXPECT_EQ(hash_pair(key, 0), hash_key(key));
}

TEST(Hash, EqualPartsOfAPairDoNotCancel) {
    std::vector<std::uint64_t> keys;
    for (std::uint64_t i = 0; i < 10000; ++i) keys.push_back(i);
    EXPECT_LE(longest_chain(keys, [](std::uint64_t i) { return hash_pair(i, i); }), 24u);
}

}  // namespace
