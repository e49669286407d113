#include "base/intrusive_list.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <random>
#include <vector>

namespace weft::base {
namespace {

struct by_age {};
struct item : list_hook<>, list_hook<by_age> {
    explicit item(int v = 0) : value(v) {}
    ~item() {
        if (static_cast<list_hook<>&>(*this).linked()) list_hook<>::unlink();
        if (static_cast<list_hook<by_age>&>(*this).linked()) list_hook<by_age>::unlink();
    }
    item(const item&) = default;
    int value;
};
using list = intrusive_list<item>;
using age_list = intrusive_list<item, by_age>;

template <class List>
std::vector<int> values(List& l) {
    std::vector<int> found;
    for (item& i : l) found.push_back(i.value);
    return found;
}
using ints = std::vector<int>;

TEST(intrusive_list, keeps_order) {
    item a{1}, b{2}, c{3};
    list l;
    EXPECT_TRUE(l.empty());
    EXPECT_EQ(l.pop_front(), nullptr);
    l.push_back(b);
    l.push_back(c);
    l.push_front(a);
    EXPECT_EQ(values(l), (ints{1, 2, 3}));
    EXPECT_EQ(&l.front(), &a);
    EXPECT_EQ(&l.back(), &c);
    EXPECT_EQ(std::prev(l.end())->value, 3);
    EXPECT_EQ(l.pop_front(), &a);
    EXPECT_EQ(values(l), (ints{2, 3}));
}

TEST(intrusive_list, removes_and_inserts_in_the_middle) {
    item a{1}, b{2}, c{3}, d{4};
    list l;
    for (item* i : {&a, &b, &c}) l.push_back(*i);
    l.remove(b);
    EXPECT_FALSE(static_cast<list_hook<>&>(b).linked());
    EXPECT_EQ(values(l), (ints{1, 3}));
    const auto after = l.erase(l.begin());
    EXPECT_EQ(after->value, 3);
    l.insert(after, d);
    EXPECT_EQ(values(l), (ints{4, 3}));
}

TEST(intrusive_list, two_lists_at_once_by_tag) {
    item a{1}, b{2};
    list l;
    age_list ages;
    l.push_back(a);
    l.push_back(b);
    ages.push_back(b);
    ages.push_back(a);
    l.remove(a);
    EXPECT_EQ(values(l), (ints{2}));
    EXPECT_EQ(values(ages), (ints{2, 1}));
}

TEST(intrusive_list, a_copy_is_in_no_list) {
    item a{1};
    list l;
    l.push_back(a);
    item copy = a;
    EXPECT_FALSE(static_cast<list_hook<>&>(copy).linked());
    EXPECT_EQ(values(l), (ints{1}));
}

TEST(intrusive_list, a_dying_list_lets_its_items_go) {
    item a{1};
    {
        list l;
        l.push_back(a);
    }
    EXPECT_FALSE(static_cast<list_hook<>&>(a).linked());
}

TEST(intrusive_list, behaves_like_std_list) {
    constexpr unsigned seed = 20240607;
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    std::vector<item> items;
    for (int i = 0; i < 50; ++i) items.emplace_back(i);
    list lists[2];
    std::list<int> models[2];
    for (int step = 0; step < 5'000; ++step) {
        item& i = items[random() % items.size()];
        const std::size_t which = random() % 2;
        if (static_cast<list_hook<>&>(i).linked()) {
            static_cast<list_hook<>&>(i).unlink();
            models[0].remove(i.value);
            models[1].remove(i.value);
        } else if (random() % 2 == 0) {
            lists[which].push_back(i);
            models[which].push_back(i.value);
        } else {
            lists[which].push_front(i);
            models[which].push_front(i.value);
        }
        if (random() % 40 == 0) {
            lists[which].splice_back(lists[1 - which]);
            models[which].splice(models[which].end(), models[1 - which]);
        }
        for (std::size_t k = 0; k < 2; ++k) {
            ASSERT_TRUE(std::ranges::equal(values(lists[k]), models[k])) << "step " << step;
            ASSERT_EQ(lists[k].empty(), models[k].empty());
        }
    }
}

}  // namespace
}  // namespace weft::base
