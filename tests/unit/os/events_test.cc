#include <fcntl.h>
#include <sys/eventfd.h>

#include <array>
#include <cerrno>
#include <thread>

#include "base/clock.hpp"
#include "os/epoll.hpp"
#include "os/eventfd.hpp"
#include "support.hpp"

namespace weft::os {
namespace {

using eventfd_test = test::no_leaks;
class epoll_test : public test::no_leaks {};

TEST_F(eventfd_test, counts_signals) {
    const auto e = eventfd::create();
    ASSERT_TRUE(e);
    EXPECT_EQ(e->drain(), 0u);
    EXPECT_TRUE(e->signal().ok());
    EXPECT_TRUE(e->signal().ok());
    EXPECT_EQ(e->drain(), 2u);
    EXPECT_EQ(e->drain(), 0u);
}

TEST_F(eventfd_test, a_full_counter_is_a_wake_up_all_the_same) {
    const auto e = eventfd::create();
    ASSERT_TRUE(e);
    const std::uint64_t full = ~std::uint64_t{0} - 1;
    ASSERT_EQ(::write(e->file().get(), &full, sizeof full), 8);
    EXPECT_TRUE(e->signal().ok());
    EXPECT_EQ(e->drain(), full);
    EXPECT_EQ(eventfd{}.signal().code(), errc::system_error);
    EXPECT_EQ(eventfd{}.drain(), 0u);
}

TEST_F(eventfd_test, adopts_eventfds_only) {
    auto blocking = eventfd::adopt(descriptor{::eventfd(0, EFD_CLOEXEC)});
    ASSERT_TRUE(blocking);
    EXPECT_EQ(blocking->drain(), 0u) << "would have blocked";
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    const descriptor reader{ends[0]};
    const auto pipe = eventfd::adopt(descriptor{ends[1]});
    ASSERT_FALSE(pipe);
    EXPECT_EQ(pipe.error().code, errc::protocol_error);
    EXPECT_TRUE(test::contains(pipe.error().text, "pipe:")) << pipe.error().text;
    EXPECT_FALSE(eventfd::adopt(descriptor{::open("/dev/null", O_RDWR | O_CLOEXEC)}));
    EXPECT_FALSE(eventfd::adopt(descriptor{}));
}

TEST_F(epoll_test, tells_who_is_ready) {
    auto set = epoll::create();
    const auto a = eventfd::create();
    const auto b = eventfd::create();
    ASSERT_TRUE(set && a && b);
    ASSERT_TRUE(set->add(a->file(), ready::readable, 11));
    ASSERT_TRUE(set->add(b->file(), ready::readable, ~std::uint64_t{0}));
    std::array<ready_event, 4> room;
    EXPECT_TRUE(set->wait(room, 0).empty());
    ASSERT_TRUE(b->signal().ok());
    auto found = set->wait(room, epoll::forever);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].key, ~std::uint64_t{0});
    EXPECT_TRUE(any(found[0].what & ready::readable));
    ASSERT_TRUE(a->signal().ok());
    EXPECT_EQ(set->wait(room, 0).size(), 2u);
    EXPECT_EQ(set->wait(std::span(room).first(1), 0).size(), 1u);
    EXPECT_TRUE(set->wait({}, 0).empty());
    set->remove(a->file());
    set->remove(a->file());
    ASSERT_TRUE(set->modify(b->file(), ready::none, 5));
    EXPECT_TRUE(set->wait(room, 0).empty());
    ASSERT_TRUE(set->modify(b->file(), ready::readable | ready::edge, 5));
    found = set->wait(room, 0);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].key, 5u);
    EXPECT_TRUE(set->wait(room, 0).empty()) << "edge-triggered";
}

TEST_F(epoll_test, waits_no_less_than_asked_for) {
    auto set = epoll::create();
    ASSERT_TRUE(set);
    std::array<ready_event, 1> room;
    for (const std::int64_t timeout : {std::int64_t{1}, std::int64_t{300'000}, std::int64_t{1'500'000}}) {
        const std::uint64_t before = base::now_ns();
        EXPECT_TRUE(set->wait(room, timeout).empty());
        EXPECT_GE(base::now_ns() - before, static_cast<std::uint64_t>(timeout));
    }
}

TEST_F(epoll_test, another_thread_ends_the_wait) {
    auto set = epoll::create();
    const auto e = eventfd::create();
    ASSERT_TRUE(set && e);
    ASSERT_TRUE(set->add(e->file(), ready::readable, 1));
    std::jthread other([&] { EXPECT_TRUE(e->signal().ok()); });
    std::array<ready_event, 1> room;
    EXPECT_EQ(set->wait(room, epoll::forever).size(), 1u);
}

TEST_F(epoll_test, misuse_is_a_failure) {
    auto set = epoll::create();
    const auto e = eventfd::create();
    ASSERT_TRUE(set && e);
    EXPECT_EQ(set->modify(e->file(), ready::readable, 1).error().code, errc::invalid_argument);
    ASSERT_TRUE(set->add(e->file(), ready::readable, 1));
    EXPECT_EQ(set->add(e->file(), ready::readable, 1).error().native, EEXIST);
    EXPECT_EQ(set->add(descriptor{}, ready::readable, 1).error().code, errc::invalid_argument);
    std::array<ready_event, 1> room;
    EXPECT_TRUE(epoll{}.wait(room, epoll::forever).empty()) << "no set: nothing, and no hanging";
}

}  // namespace
}  // namespace weft::os
