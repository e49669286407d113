#include "match/posted_list.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace {

using weft::match::any_source;
using weft::match::posted_list;
using weft::match::posted_receive;
using weft::match::source_max;

constexpr std::uint64_t all_bits = ~std::uint64_t{0};

// Posts with a number to recognise the receive by.
posted_receive* post(posted_list& list, std::uint64_t number, std::uint64_t tag, std::uint64_t ignore = 0,
                     std::uint64_t source = any_source) {
    posted_receive* r = list.add(tag, ignore, source);
    if (r != nullptr) r->size = number;
    return r;
}

constexpr std::uint64_t nothing = all_bits;

// The number of the receive that takes the arrival, which is released at once.
std::uint64_t arrive(posted_list& list, std::uint64_t source, std::uint64_t tag) {
    posted_receive* r = list.take(source, tag);
    if (r == nullptr) return nothing;
    const std::uint64_t number = r->size;
    list.release(r);
    return number;
}

TEST(PostedList, NothingMatchesInAnEmptyList) {
    posted_list list(10);
    EXPECT_TRUE(list.empty());
    EXPECT_EQ(list.take(1, 2), nullptr);
    EXPECT_EQ(list.take(any_source, 0), nullptr);
    EXPECT_EQ(list.cancel(nullptr), nullptr);
}

TEST(PostedList, ExactTagFromAnySource) {
    posted_list list(10);
    post(list, 1, 7);
    EXPECT_EQ(list.size(), 1u);
    EXPECT_EQ(arrive(list, 0, 8), nothing);
    EXPECT_EQ(arrive(list, source_max, 7), 1u);
    EXPECT_EQ(arrive(list, 0, 7), nothing);
    EXPECT_TRUE(list.empty());
}

TEST(PostedList, RecordSaysWhatWasPosted) {
    posted_list list(10);
    const posted_receive* plain = list.add(7, 0, any_source);
    EXPECT_EQ(plain->tag, 7u);
    EXPECT_TRUE(plain->takes_any_source());
    const posted_receive* directed = list.add(9, 0xf, 3);
    EXPECT_EQ(directed->tag, 9u);
    EXPECT_EQ(directed->source, 3u);
    EXPECT_FALSE(directed->takes_any_source());
    EXPECT_LT(plain->sequence, directed->sequence);
}

TEST(PostedList, EarliestPostedOfEqualsWins) {
    posted_list list(10);
    for (std::uint64_t i = 0; i < 5; ++i) post(list, i, 7);
    for (std::uint64_t i = 0; i < 5; ++i) EXPECT_EQ(arrive(list, 0, 7), i);
}

TEST(PostedList, DirectedReceivesTakeOnlyFromTheirSource) {
    posted_list list(10);
    post(list, 1, 7, 0, 3);
    EXPECT_EQ(arrive(list, 4, 7), nothing);
    EXPECT_EQ(arrive(list, any_source, 7), nothing) << "an unknown source is nobody's";
    EXPECT_EQ(arrive(list, 3, 7), 1u);
    post(list, 2, 7, 0, source_max);
    EXPECT_EQ(arrive(list, source_max, 7), 2u);
}

TEST(PostedList, UnknownSourceMatchesAnySource) {
    posted_list list(10);
    post(list, 1, 7);
    EXPECT_EQ(arrive(list, any_source, 7), 1u);
}

TEST(PostedList, IgnoredBitsAreNotCompared) {
    posted_list list(10);
    post(list, 1, 0x1200, 0xff);
    EXPECT_EQ(arrive(list, 0, 0x1300), nothing);
    EXPECT_EQ(arrive(list, 0, 0x12cd), 1u);
    post(list, 2, 0x12ab, 0xff);  // bits set in the tag where they are ignored
    EXPECT_EQ(arrive(list, 0, 0x1200), 2u);
    post(list, 3, 5, all_bits);
    EXPECT_EQ(arrive(list, 0, 0xdeadbeef), 3u);
    post(list, 4, 5, all_bits, 9);
    EXPECT_EQ(arrive(list, 8, 5), nothing);
    EXPECT_EQ(arrive(list, 9, 0), 4u);
}

TEST(PostedList, PostOrderDecidesBetweenClasses) {
    // Every order of an exact, a masked, a directed and a catch-all receive that all match one arrival.
    std::vector<int> kinds{0, 1, 2, 3};
    do {
        posted_list list(10);
        for (const int kind : kinds) {
            const auto number = static_cast<std::uint64_t>(kind);
            if (kind == 0) post(list, number, 0x12);
            if (kind == 1) post(list, number, 0x10, 0x0f);
            if (kind == 2) post(list, number, 0x12, 0, 3);
            if (kind == 3) post(list, number, 0, all_bits, 3);
        }
        for (const int kind : kinds) EXPECT_EQ(arrive(list, 3, 0x12), static_cast<std::uint64_t>(kind));
        EXPECT_TRUE(list.empty());
    } while (std::next_permutation(kinds.begin(), kinds.end()));
}

TEST(PostedList, LimitCountsTakenReceivesUntilTheyAreReleased) {
    posted_list list(3);
    EXPECT_EQ(list.limit(), 3u);
    for (std::uint64_t i = 0; i < 3; ++i) ASSERT_NE(post(list, i, i), nullptr);
    EXPECT_EQ(post(list, 9, 9), nullptr);
    EXPECT_EQ(post(list, 9, 9, 0xff), nullptr);
    EXPECT_EQ(post(list, 9, 9, 0, 1), nullptr);
    posted_receive* r = list.take(0, 1);
    ASSERT_NE(r, nullptr);
    EXPECT_EQ(list.size(), 2u);
    EXPECT_EQ(post(list, 9, 9), nullptr);
    list.release(r);
    EXPECT_NE(post(list, 9, 9), nullptr);
    EXPECT_EQ(list.size(), 3u);
}

TEST(PostedList, LimitZeroAcceptsNothing) {
    posted_list list(0);
    EXPECT_EQ(post(list, 1, 1), nullptr);
    EXPECT_EQ(post(list, 1, 1, 1, 1), nullptr);
    EXPECT_EQ(list.take(1, 1), nullptr);
    EXPECT_TRUE(list.reserve(10));
}

TEST(PostedList, GrowthMovesNoRecordAndKeepsOrder) {
    posted_list list(5000);
    std::vector<posted_receive*> records;
    for (std::uint64_t i = 0; i < 5000; ++i) records.push_back(post(list, i, i % 1250));
    EXPECT_EQ(post(list, 0, 0), nullptr);
    EXPECT_EQ(std::set<posted_receive*>(records.begin(), records.end()).size(), 5000u);
    for (std::uint64_t i = 0; i < 5000; ++i) {
        ASSERT_EQ(records[i]->size, i);
        ASSERT_EQ(reinterpret_cast<std::uintptr_t>(records[i]) % 64, 0u);
    }
    for (std::uint64_t round = 0; round < 4; ++round)
        for (std::uint64_t tag = 1250; tag-- > 0;) ASSERT_EQ(arrive(list, 0, tag), round * 1250 + tag);
    EXPECT_TRUE(list.empty());
}

TEST(PostedList, ReserveStopsAtTheLimit) {
    posted_list list(100);
    EXPECT_TRUE(list.reserve(1000));
    for (std::uint64_t i = 0; i < 100; ++i) ASSERT_NE(post(list, i, i), nullptr);
    EXPECT_EQ(post(list, 0, 0), nullptr);
}

TEST(PostedList, FloodOfOneKeyBesideOthers) {
    // 10,000 equal receives and one of each of 300 other tags, some of which share their bucket. Were the flood in
    // the way of those, this would take seconds; what is checked here is the order.
    posted_list list(20000);
    for (std::uint64_t i = 0; i < 10000; ++i) post(list, i, 42);
    for (std::uint64_t i = 0; i < 300; ++i) post(list, 10000 + i, 1000 + i);
    for (std::uint64_t i = 300; i-- > 0;) ASSERT_EQ(arrive(list, 0, 1000 + i), 10000 + i);
    for (std::uint64_t i = 0; i < 10000; ++i) ASSERT_EQ(arrive(list, 0, 42), i);
    for (std::uint64_t i = 0; i < 10000; ++i) post(list, i, 42, 0, 5);
    for (std::uint64_t i = 0; i < 10000; ++i) ASSERT_EQ(arrive(list, 5, 42), i);
}

TEST(PostedList, ManyMasksOverflowAndComeBack) {
    posted_list list(2000);
    // 64 masks, far more than there are classes; all match tag 0. Twice, so that classes are taken over.
    for (int round = 0; round < 2; ++round) {
        std::uint64_t number = 0;
        for (int repeat = 0; repeat < 3; ++repeat)
            for (unsigned bit = 0; bit < 64; ++bit, ++number)
                post(list, number, std::uint64_t{1} << bit, std::uint64_t{1} << bit,
                     bit % 2 == 0 ? any_source : std::uint64_t{7});
        EXPECT_EQ(arrive(list, 7, 3u << 20), nothing);
        // An arrival with bit 63 is matched by the masks of that bit only, the last class of each repeat.
        EXPECT_EQ(arrive(list, 7, std::uint64_t{1} << 63), 63u);
        for (std::uint64_t i = 0; i < number; ++i) {
            if (i == 63) continue;
            ASSERT_EQ(arrive(list, 7, 0), i);
        }
        EXPECT_TRUE(list.empty());
    }
}

TEST(PostedList, OverflowAndItsLaterClassKeepPostOrder) {
    posted_list list(100);
    for (unsigned bit = 0; bit < 20; ++bit) post(list, bit, 0, std::uint64_t{1} << bit);
    EXPECT_EQ(arrive(list, 0, 1), 0u);                      // bit 0's class is idle now
    post(list, 100, 0, std::uint64_t{1} << 19);             // takes it over, while 19 itself is in the overflow list
    EXPECT_EQ(arrive(list, 0, std::uint64_t{1} << 19), 19u);
    EXPECT_EQ(arrive(list, 0, std::uint64_t{1} << 19), 100u);
}

TEST(PostedList, CancelTakesTheEarliestWithTheToken) {
    posted_list list(100);
    int a = 0;
    int b = 0;
    for (unsigned bit = 0; bit < 40; ++bit) {  // plain, classes and overflow
        post(list, 2 * bit, bit)->token = &a;
        post(list, 2 * bit + 1, 0, std::uint64_t{1} << bit, bit % 3 == 0 ? std::uint64_t{5} : any_source)->token = &b;
    }
    for (std::uint64_t i = 0; i < 40; ++i) {
        posted_receive* r = list.cancel(&b);
        ASSERT_NE(r, nullptr);
        EXPECT_EQ(r->size, 2 * i + 1);
        EXPECT_EQ(r->token, &b);
        list.release(r);
    }
    EXPECT_EQ(list.cancel(&b), nullptr);
    EXPECT_EQ(list.size(), 40u);
    for (std::uint64_t i = 40; i-- > 0;) EXPECT_EQ(arrive(list, 1, i), 2 * i);
}

TEST(PostedList, RemoveIfHandsOverInPostOrderAndKeepsTheRest) {
    posted_list list(3000);
    for (std::uint64_t i = 0; i < 1500; ++i)
        post(list, i, i % 50, i % 3 == 0 ? i % 97 : 0, i % 4 == 0 ? i % 8 : any_source);
    std::vector<std::uint64_t> removed;
    list.remove_if([](const posted_receive& r) { return r.size % 2 == 0; },
                   [&](posted_receive& r) {
                       removed.push_back(r.size);
                       list.release(&r);
                   });
    ASSERT_EQ(removed.size(), 750u);
    for (std::uint64_t i = 0; i < 750; ++i) ASSERT_EQ(removed[i], 2 * i);
    EXPECT_EQ(list.size(), 750u);
    std::vector<std::uint64_t> rest;
    list.for_each([&](const posted_receive& r) { rest.push_back(r.size); });
    std::sort(rest.begin(), rest.end());
    ASSERT_EQ(rest.size(), 750u);
    for (std::uint64_t i = 0; i < 750; ++i) ASSERT_EQ(rest[i], 2 * i + 1);
}

TEST(PostedList, ConsumeMayPost) {
    posted_list list(10);
    for (std::uint64_t i = 0; i < 10; ++i) post(list, i, 1);
    list.remove_if([](const posted_receive&) { return true; },
                   [&](posted_receive& r) {
                       const std::uint64_t number = r.size;
                       list.release(&r);
                       post(list, number + 100, 1);
                   });
    EXPECT_EQ(list.size(), 10u);
    for (std::uint64_t i = 0; i < 10; ++i) EXPECT_EQ(arrive(list, 0, 1), i + 100);
}

}  // namespace
