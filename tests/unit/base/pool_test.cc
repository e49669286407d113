#include "base/pool.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <set>
#include <vector>

namespace weft::base {
namespace {

struct counted {
    explicit counted(int v) noexcept : value(v) { ++living; }
    ~counted() { --living; }
    counted(const counted&) = delete;
    int value;
    static inline int living = 0;
};

TEST(pool, constructs_destroys_and_keeps_the_bound) {
    {
        pool<counted> p(10, 4);
        EXPECT_EQ(p.allocated(), 0u);
        std::set<counted*> out;
        for (int i = 0; i < 10; ++i) {
            counted* c = p.acquire(i);
            ASSERT_NE(c, nullptr);
            EXPECT_EQ(c->value, i);
            EXPECT_TRUE(out.insert(c).second);
        }
        EXPECT_EQ(counted::living, 10);
        EXPECT_EQ(p.acquire(11), nullptr);
        EXPECT_EQ(p.in_use(), 10u);
        EXPECT_EQ(p.allocated(), 10u);
        counted* one = *out.begin();
        p.release(one);
        EXPECT_EQ(p.acquire(12), one);
        EXPECT_EQ(p.acquire(13), nullptr);
        int expected = 10;
        for (counted* c : out) {
            p.release(c);
            EXPECT_EQ(counted::living, --expected);
        }
        p.release(nullptr);
        EXPECT_EQ(p.in_use(), 0u);
    }
    EXPECT_EQ(counted::living, 0);
}

TEST(pool, hands_out_the_last_released_first_and_new_chunks_in_order) {
    pool<std::uint64_t> p(8, 8);
    std::uint64_t* a = p.acquire(1u);
    std::uint64_t* b = p.acquire(2u);
    EXPECT_EQ(b, a + 1);
    p.release(a);
    p.release(b);
    EXPECT_EQ(p.acquire(3u), b);
    EXPECT_EQ(p.acquire(4u), a);
    p.release(a);
    p.release(b);
}

TEST(pool, addresses_stay_while_it_grows) {
    pool<int> p(1000, 3);
    std::vector<int*> out;
    for (int i = 0; i < 1000; ++i) out.push_back(p.acquire(i));
    for (int i = 0; i < 1000; ++i) {
        EXPECT_EQ(*out[static_cast<std::size_t>(i)], i);
        p.release(out[static_cast<std::size_t>(i)]);
    }
}

TEST(pool, respects_alignment_and_small_types) {
    struct alignas(64) line {
        char c;
    };
    pool<line> lines(5, 2);
    pool<char> chars(5, 2);
    std::vector<line*> out;
    std::vector<char*> letters;
    for (int i = 0; i < 5; ++i) {
        out.push_back(lines.acquire());
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(out.back()) % 64, 0u);
        letters.push_back(chars.acquire('x'));
    }
    for (int i = 0; i < 5; ++i) {
        lines.release(out[static_cast<std::size_t>(i)]);
        EXPECT_EQ(*letters[static_cast<std::size_t>(i)], 'x');
        chars.release(letters[static_cast<std::size_t>(i)]);
    }
}

TEST(pool, reserve_allocates_ahead_up_to_the_bound) {
    pool<int> p(10, 4);
    EXPECT_TRUE(p.reserve(5));
    EXPECT_EQ(p.allocated(), 8u);
    EXPECT_TRUE(p.reserve(1000));
    EXPECT_EQ(p.allocated(), 10u);
}

TEST(pool, answers_null_when_memory_cannot_be_had) {
    constexpr std::size_t huge = std::numeric_limits<std::size_t>::max();
    pool<std::uint64_t> overflow(huge, huge);
    EXPECT_EQ(overflow.acquire(1u), nullptr);
    EXPECT_FALSE(overflow.reserve(1));
    pool<int> none(0, 0);
    EXPECT_EQ(none.acquire(), nullptr);
}

}  // namespace
}  // namespace weft::base
