#include "match/unexpected_list.hpp"

#include <cstdint>
#include <deque>
#include <vector>

#include <gtest/gtest.h>

namespace {

using weft::match::any_source;
using weft::match::unexpected_link;
using weft::match::unexpected_list;

constexpr std::uint64_t all_bits = ~std::uint64_t{0};

struct message : unexpected_link {
    message(std::uint64_t n, std::uint64_t s, std::uint64_t t) : number(n) {
        source = s;
        tag = t;
    }
    std::uint64_t number;
};

struct UnexpectedList : ::testing::Test {
    std::deque<message> store;
    unexpected_list<message> list;

    message& arrive(std::uint64_t source, std::uint64_t tag) {
        store.emplace_back(store.size(), source, tag);
        list.add(store.back());
        return store.back();
    }
    static constexpr std::uint64_t nothing = all_bits;
    std::uint64_t take(std::uint64_t tag, std::uint64_t ignore = 0, std::uint64_t source = any_source) {
        const message* found = list.find(tag, ignore, source);
        const message* taken = list.take(tag, ignore, source);
        EXPECT_EQ(found, taken);
        return taken == nullptr ? nothing : taken->number;
    }
};

TEST_F(UnexpectedList, EmptyFindsNothing) {
    EXPECT_TRUE(list.empty());
    EXPECT_EQ(take(0), nothing);
    EXPECT_EQ(take(0, all_bits), nothing);
    EXPECT_EQ(take(0, 0, 1), nothing);
    EXPECT_EQ(list.oldest(), nullptr);
}

TEST_F(UnexpectedList, ExactTagFindsTheEarliestFromAnybody) {
    arrive(1, 7);
    arrive(2, 7);
    arrive(1, 8);
    EXPECT_EQ(list.size(), 3u);
    EXPECT_EQ(take(9), nothing);
    EXPECT_EQ(take(8), 2u);
    EXPECT_EQ(take(7), 0u);
    EXPECT_EQ(take(7), 1u);
    EXPECT_EQ(take(7), nothing);
    EXPECT_TRUE(list.empty());
}

TEST_F(UnexpectedList, DirectedFindsTheEarliestOfThatSource) {
    arrive(1, 7);
    arrive(2, 7);
    arrive(2, 7);
    arrive(3, 7);
    EXPECT_EQ(take(7, 0, 4), nothing);
    EXPECT_EQ(take(8, 0, 2), nothing);
    EXPECT_EQ(take(7, 0, 2), 1u);  // from the middle of the ring of its tag
    EXPECT_EQ(take(7), 0u);
    EXPECT_EQ(take(7), 2u);
    EXPECT_EQ(take(7, 0, 2), nothing);
    EXPECT_EQ(take(7, 0, 3), 3u);
}

TEST_F(UnexpectedList, MasksFindTheEarliestThatMatches) {
    arrive(1, 0x20);
    arrive(1, 0x11);
    arrive(2, 0x12);
    EXPECT_EQ(take(0x30, 0x0f), nothing);
    EXPECT_EQ(take(0x1f, 0x0f), 1u);
    EXPECT_EQ(take(0, all_bits, 2), 2u);
    EXPECT_EQ(take(0x99, all_bits), 0u);
}

TEST_F(UnexpectedList, UnknownSourceIsFoundByAnybodyOnly) {
    arrive(any_source, 7);
    EXPECT_EQ(take(7, 0, 1), nothing);
    EXPECT_EQ(take(7, all_bits, 1), nothing);
    EXPECT_EQ(take(7), 0u);
}

TEST_F(UnexpectedList, FindLeavesItInPlaceAndRemoveTakesIt) {
    message& m = arrive(1, 7);
    EXPECT_EQ(list.find(7, 0, any_source), &m);
    EXPECT_EQ(list.find(7, 0, 1), &m);
    EXPECT_EQ(list.size(), 1u);
    list.remove(m);
    EXPECT_EQ(list.find(7, 0, 1), nullptr);
    list.add(m);  // a record can come back
    EXPECT_EQ(take(7, 0, 1), 0u);
}

TEST_F(UnexpectedList, DeathOfAPeerRemovesItsMessagesOnly) {
    for (std::uint64_t i = 0; i < 300; ++i) arrive(i % 3, i % 7);
    std::vector<std::uint64_t> removed;
    list.remove_source(1, [&](message& m) { removed.push_back(m.number); });
    ASSERT_EQ(removed.size(), 100u);
    for (std::uint64_t i = 0; i < 100; ++i) EXPECT_EQ(removed[i], 3 * i + 1);
    EXPECT_EQ(list.size(), 200u);
    EXPECT_EQ(take(0, all_bits, 1), nothing);
    for (std::uint64_t i = 0; i < 300; ++i) {
        if (i % 3 == 1) continue;
        ASSERT_EQ(take(i % 7, 0, i % 3), i);
    }
}

TEST_F(UnexpectedList, FloodOfOneKeyBesideOthers) {
    for (std::uint64_t i = 0; i < 10000; ++i) arrive(5, 42);
    for (std::uint64_t i = 0; i < 500; ++i) arrive(i, 1000 + i);
    for (std::uint64_t i = 500; i-- > 0;) ASSERT_EQ(take(1000 + i, 0, i % 2 == 0 ? i : any_source), 10000 + i);
    for (std::uint64_t i = 0; i < 10000; i += 3) {
        ASSERT_EQ(take(42), i);
        ASSERT_EQ(take(42, 0, 5), i + 1 < 10000 ? i + 1 : nothing);
        ASSERT_EQ(take(0, all_bits), i + 2 < 10000 ? i + 2 : nothing);
    }
    EXPECT_TRUE(list.empty());
}

TEST_F(UnexpectedList, UntaggedMessagesAreOneRing) {
    for (std::uint64_t i = 0; i < 1000; ++i) arrive(i % 2, 0);
    for (std::uint64_t i = 1; i < 1000; i += 2) ASSERT_EQ(take(0, 0, 1), i);
    for (std::uint64_t i = 0; i < 1000; i += 2) ASSERT_EQ(take(0), i);
}

TEST_F(UnexpectedList, OldestEmptiesIt) {
    for (std::uint64_t i = 0; i < 100; ++i) arrive(i, i * i);
    for (std::uint64_t i = 0; i < 100; ++i) {
        message* m = list.oldest();
        ASSERT_NE(m, nullptr);
        EXPECT_EQ(m->number, i);
        list.remove(*m);
    }
    EXPECT_TRUE(list.empty());
}

}  // namespace
