#include "base/edit_distance.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace weft::base {
namespace {

TEST(edit_distance, counts_edits) {
    EXPECT_EQ(edit_distance("", ""), 0u);
    EXPECT_EQ(edit_distance("tcp", "tcp"), 0u);
    EXPECT_EQ(edit_distance("tpc", "tcp"), 1u);
    EXPECT_EQ(edit_distance("TCP", "tcp"), 0u);
    EXPECT_EQ(edit_distance("shm", "sm"), 1u);
    EXPECT_EQ(edit_distance("sm", "shm"), 1u);
    EXPECT_EQ(edit_distance("shn", "shm"), 1u);
    EXPECT_EQ(edit_distance("", "shm"), 3u);
    EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}

TEST(edit_distance, is_bounded_for_long_names) {
    const std::string longest(64, 'a'), longer(65, 'a'), upper(65, 'A');
    EXPECT_EQ(edit_distance(longest, longest.substr(1)), 1u);
    EXPECT_EQ(edit_distance(longer, longest), 65u);
    EXPECT_EQ(edit_distance(longer, upper), 0u);
}

TEST(nearest, suggests_within_a_sensible_distance) {
    constexpr std::array<std::string_view, 6> names{"shm", "tcp", "udp", "verbs", "WEFT_PROVIDER", "WEFT_LOG"};
    EXPECT_EQ(nearest("tpc", names), "tcp");
    EXPECT_EQ(nearest("SHM", names), "shm");
    EXPECT_EQ(nearest("verb", names), "verbs");
    EXPECT_EQ(nearest("WEFT_PROVDIERS", names), "WEFT_PROVIDER");
    EXPECT_EQ(nearest("infiniband", names), "");
    EXPECT_EQ(nearest("xyz", names), "");
    EXPECT_EQ(nearest("", names), "");
    EXPECT_EQ(nearest("tcp", {}), "");
}

TEST(nearest, takes_the_nearest_then_the_first) {
    constexpr std::array<std::string_view, 4> names{"", "abcdex", "abcdef", "abcdey"};
    EXPECT_EQ(nearest("abcdef", names), "abcdef");
    EXPECT_EQ(nearest("abcdez", names), "abcdex");
}

}  // namespace
}  // namespace weft::base
