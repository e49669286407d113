#include "base/id_table.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace weft::base {
namespace {

using table = id_table<int>;

TEST(id_table, finds_what_was_inserted_until_it_is_erased) {
    table t(100);
    int a = 1, b = 2;
    const auto id_a = t.insert(&a);
    const auto id_b = t.insert(&b);
    EXPECT_NE(id_a, table::none);
    EXPECT_NE(id_a, id_b);
    EXPECT_EQ(t.find(id_a), &a);
    EXPECT_EQ(t.find(id_b), &b);
    EXPECT_EQ(t.erase(id_a), &a);
    EXPECT_EQ(t.erase(id_a), nullptr);
    EXPECT_EQ(t.find(id_a), nullptr);
    EXPECT_EQ(t.find(id_b), &b);
    EXPECT_EQ(t.size(), 1u);
}

TEST(id_table, a_stale_id_does_not_find_the_slots_next_owner) {
    table t(1);
    int a = 1, b = 2;
    auto stale = t.insert(&a);
    for (int i = 0; i < 1000; ++i) {
        t.erase(stale);
        const auto fresh = t.insert(&b);
        ASSERT_NE(fresh, stale);
        ASSERT_EQ(t.find(stale), nullptr);
        ASSERT_EQ(t.erase(stale), nullptr);
        ASSERT_EQ(t.find(fresh), &b);
        stale = fresh;
    }
}

TEST(id_table, invented_numbers_find_nothing) {
    table t(4);
    int a = 1;
    EXPECT_EQ(t.find(0), nullptr);
    EXPECT_EQ(t.find(~std::uint64_t{0}), nullptr);
    const auto id = t.insert(&a);
    for (int bit = 0; bit < 64; ++bit) EXPECT_EQ(t.find(id ^ std::uint64_t{1} << bit), nullptr) << bit;
    EXPECT_EQ(t.find(table::none), nullptr);
    t.erase(id);
    // Slots that were never used, at every small generation.
    for (std::uint64_t generation = 0; generation < 4; ++generation)
        for (std::uint64_t index = 0; index < 8; ++index) EXPECT_EQ(t.find(generation << 32 | index), nullptr);
}

TEST(id_table, keeps_its_bound) {
    table t(40);
    int a = 0;
    std::vector<std::uint64_t> ids;
    for (int i = 0; i < 40; ++i) ids.push_back(t.insert(&a));
    EXPECT_EQ(t.insert(&a), table::none);
    t.erase(ids[7]);
    EXPECT_NE(t.insert(&a), table::none);
    EXPECT_EQ(t.insert(&a), table::none);
    table empty(0);
    EXPECT_EQ(empty.insert(&a), table::none);
}

TEST(id_table, behaves_like_a_map) {
    constexpr unsigned seed = 77;
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    std::vector<int> objects(300);
    table t(200);
    std::map<std::uint64_t, int*> model;
    std::vector<std::uint64_t> ever;
    for (int step = 0; step < 20'000; ++step) {
        if (random() % 2 == 0) {
            int* o = &objects[random() % objects.size()];
            const auto id = t.insert(o);
            ASSERT_EQ(id == table::none, model.size() == 200);
            if (id == table::none) continue;
            ASSERT_TRUE(model.emplace(id, o).second);
            ever.push_back(id);
        } else if (!ever.empty()) {
            const auto id = ever[random() % ever.size()];
            const auto found = model.find(id);
            int* expected = found == model.end() ? nullptr : found->second;
            ASSERT_EQ(t.find(id), expected);
            ASSERT_EQ(t.erase(id), expected);
            model.erase(id);
        }
        ASSERT_EQ(t.size(), model.size());
    }
    std::map<std::uint64_t, int*> visited;
    t.for_each([&](std::uint64_t id, int& o) { visited.emplace(id, &o); });
    EXPECT_EQ(visited, model);
    t.for_each([&](std::uint64_t id, int&) { t.erase(id); });
    EXPECT_EQ(t.size(), 0u);
}

}  // namespace
}  // namespace weft::base
