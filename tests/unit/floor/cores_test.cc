#include "floor/cores.hpp"
#include <gtest/gtest.h>
#include <sched.h>
#include <thread>

namespace weft::tool {
namespace {

TEST(cores, prefers_two_cores_under_one_cache) {
    const std::vector<processor> allowed{{0, 0, 0}, {1, 0, 0}, {2, 2, 8}, {8, 8, 8}};
    const core_pair pair = choose_cores(allowed);
    EXPECT_EQ(pair.initiator, 2);
    EXPECT_EQ(pair.responder, 8);
    EXPECT_TRUE(pair.note.empty());
}

TEST(cores, then_any_two_cores) {
    const std::vector<processor> allowed{{0, 0, 0}, {1, 0, 0}, {8, 8, 8}};
    const core_pair pair = choose_cores(allowed);
    EXPECT_EQ(pair.initiator, 0);
    EXPECT_EQ(pair.responder, 8);
    EXPECT_FALSE(pair.note.empty());
}

TEST(cores, then_two_threads_of_one_core) {
    const std::vector<processor> allowed{{4, 4, 0}, {68, 4, 0}};
    const core_pair pair = choose_cores(allowed);
    EXPECT_EQ(pair.initiator, 4);
    EXPECT_EQ(pair.responder, 68);
    EXPECT_FALSE(pair.is_shared());
    EXPECT_NE(pair.note.find("threads"), std::string::npos);
}

TEST(cores, says_when_there_is_only_one) {
    const std::vector<processor> allowed{{3, 3, 0}};
    const core_pair pair = choose_cores(allowed);
    EXPECT_TRUE(pair.is_shared());
    EXPECT_NE(pair.note.find("only one processor"), std::string::npos);
}

TEST(cores, pins_to_an_allowed_processor_only) {
    // In a thread of its own: pinning concerns the calling thread.
    std::thread([] {
        const auto allowed = allowed_processors();
        ASSERT_TRUE(allowed);
        ASSERT_FALSE(allowed->empty());
        const int id = allowed->back().id;
        ASSERT_TRUE(pin_to(id));
        EXPECT_EQ(sched_getcpu(), id);
        const auto now = allowed_processors();
        ASSERT_TRUE(now);
        ASSERT_EQ(now->size(), 1u);
        EXPECT_EQ(now->front().id, id);
        EXPECT_FALSE(pin_to(-1));
        EXPECT_FALSE(pin_to(60000));
    }).join();
}

}  // namespace
}  // namespace weft::tool
