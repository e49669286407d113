#include "base/random.hpp"

#include <gtest/gtest.h>

#include <set>

namespace weft::base {
namespace {

TEST(identity, has_one_spelling) {
    const identity id{0x0123456789abcdef, 0xfedcba9876543210};
    const std::string text = to_text(id);
    EXPECT_EQ(text, "0123456789abcdeffedcba9876543210");
    EXPECT_EQ(parse_identity(text), id);
    EXPECT_EQ(to_text(identity{0, 1}), "00000000000000000000000000000001");
}

TEST(identity, refuses_every_other_text) {
    const std::string good = "0123456789abcdeffedcba9876543210";
    EXPECT_FALSE(parse_identity(""));
    EXPECT_FALSE(parse_identity(good.substr(1)));
    EXPECT_FALSE(parse_identity(good + "0"));
    EXPECT_FALSE(parse_identity(std::string(32, '0'))) << "nobody has no text";
    for (const char wrong : {'A', 'g', ' ', '-', '+', 'x', '\0', '/', ':', '`', '\x80'}) {
        for (const std::size_t at : {0u, 15u, 16u, 31u}) {
            std::string bad = good;
            bad[at] = wrong;
            EXPECT_FALSE(parse_identity(bad)) << static_cast<int>(wrong) << " at " << at;
        }
    }
}

TEST(identity, random_ones_differ_and_survive_text) {
    std::set<identity> seen;
    for (int i = 0; i < 100; ++i) {
        const auto id = random_identity();
        ASSERT_TRUE(id);
        EXPECT_TRUE(*id);
        EXPECT_TRUE(seen.insert(*id).second);
        EXPECT_EQ(parse_identity(to_text(*id)), *id);
    }
}

TEST(random_number, differs) {
    const auto a = random_number();
    const auto b = random_number();
    ASSERT_TRUE(a && b);
    EXPECT_NE(*a, *b);  // fails by chance once in 2^64 runs
}

}  // namespace
}  // namespace weft::base
