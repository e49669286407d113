#include "base/copy_small.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>

namespace weft::base {
namespace {

constexpr std::size_t guard = 64;

std::byte pattern(std::size_t i) { return static_cast<std::byte>(i * 7 + 1); }

TEST(copy_small, copies_every_size_at_every_alignment_and_nothing_else) {
    for (std::size_t n = 0; n <= copy_small_max; ++n) {
        for (std::size_t from_at = 0; from_at < 16; ++from_at) {
            for (std::size_t to_at = 0; to_at < 16; ++to_at) {
                alignas(16) std::byte from[2 * guard + 64];
                alignas(16) std::byte to[2 * guard + 64];
                for (std::size_t i = 0; i < sizeof from; ++i) from[i] = pattern(i);
                std::memset(to, 0xee, sizeof to);
                copy_small(to + guard + to_at, from + guard + from_at, n);
                for (std::size_t i = 0; i < sizeof to; ++i) {
                    const bool inside = i >= guard + to_at && i < guard + to_at + n;
                    const std::byte expected = inside ? pattern(i - to_at + from_at) : std::byte{0xee};
                    ASSERT_EQ(to[i], expected) << "n " << n << " from " << from_at << " to " << to_at << " byte " << i;
                }
            }
        }
    }
}

// Blocks of exactly n bytes: the address sanitizer sees any access outside.
TEST(copy_small, stays_inside_exact_blocks) {
    for (std::size_t n = 0; n <= copy_small_max; ++n) {
        const auto from = std::make_unique<std::byte[]>(n);
        const auto to = std::make_unique<std::byte[]>(n);
        for (std::size_t i = 0; i < n; ++i) from[i] = pattern(i);
        copy_small(to.get(), from.get(), n);
        EXPECT_TRUE(std::equal(to.get(), to.get() + n, from.get())) << n;
    }
}

TEST(copy_small, accepts_null_for_nothing) { copy_small(nullptr, nullptr, 0); }

}  // namespace
}  // namespace weft::base
