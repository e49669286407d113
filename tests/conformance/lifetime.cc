// Cancel, close and destruction: every operation ends exactly once, and objects may go in any order.
#include "support.hpp"

#include <algorithm>
#include <numeric>

namespace weft::conformance {
namespace {

WEFT_SUITE(lifetime, every_condition());
WEFT_SUITE(lifetime_of_pairs, every_pair());

TEST_P(lifetime, cancel_ends_a_receive_once) {
    std::byte rooms[3][8];
    pair_of_endpoints p(GetParam());
    for (family f : families) {
        const token first = p.recv(p.b, buffer{rooms[0], 8}, f, tag{1});
        const token second = p.recv(p.b, buffer{rooms[1], 8}, f, tag{1});
        const token third = p.recv(p.b, buffer{rooms[2], 8}, f, tag{1});
        EXPECT_TRUE(p.b.ep.cancel(second).ok());
        const completion c = p.wait(second);
        EXPECT_EQ(c.outcome.code(), errc::canceled);
        EXPECT_EQ(c.what, op::recv);
        EXPECT_EQ(p.b.ep.cancel(second).code(), errc::no_message) << "it has completed already";
        EXPECT_EQ(p.b.ep.cancel(token{0x7fffffff}).code(), errc::no_message) << "it was never posted";
        // The others are as they were, in their order.
        const auto one = pattern(8, 1), two = pattern(8, 2);
        p.send_quiet(p.a, view(one), f, tag{1});
        p.send_quiet(p.a, view(two), f, tag{1});
        p.wait_ok(first);
        p.wait_ok(third);
        EXPECT_TRUE(holds(rooms[0], 1));
        EXPECT_TRUE(holds(rooms[2], 2));
        EXPECT_EQ(p.b.ep.cancel(first).code(), errc::no_message);
    }
}

TEST_P(lifetime, cancel_of_wildcard_and_directed_receives) {
    std::byte room[8];
    pair_of_endpoints p(GetParam());
    const token wild = p.recv(p.b, buffer{room, 8}, family::tagged, tag{0}, match_anything);
    const token masked = p.recv(p.b, buffer{room, 8}, family::tagged, tag{8}, ignore_bits{7});
    const token directed = p.recv(p.b, buffer{room, 8}, family::tagged, tag{1}, match_exactly, p.b.other);
    const token both = p.recv(p.b, buffer{room, 8}, family::tagged, tag{1}, match_anything, p.b.other);
    for (token t : {masked, both, wild, directed}) {
        EXPECT_TRUE(p.b.ep.cancel(t).ok());
        EXPECT_EQ(p.wait(t).outcome.code(), errc::canceled);
    }
}

TEST_P(lifetime, cancel_ends_all_receives_with_the_token) {
    std::byte room[8];
    pair_of_endpoints p(GetParam());
    const token same{0x1000};  // outside the ledger: one token for several receives
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(p.b.ep.recv(buffer{room, 8}, tag{1}, same).ok());
    ASSERT_TRUE(p.b.ep.recv(buffer{room, 8}, same).ok());
    EXPECT_TRUE(p.b.ep.cancel(same).ok());
    int canceled = 0;
    for (int i = 0; i < 1000; ++i) {
        entry::tagged entries[8];
        for (const auto& e : p.b.queue.poll(entries)) {
            EXPECT_EQ(e.context, same);
            EXPECT_EQ(e.outcome.code(), errc::canceled);
            ++canceled;
        }
    }
    EXPECT_EQ(canceled, 4);
}

TEST_P(lifetime, a_canceled_receive_takes_no_message) {
    std::byte first_room[8], second_room[8];
    pair_of_endpoints p(GetParam());
    for (int i = 0; i < 100; ++i) {
        const token r = p.recv(p.b, buffer{first_room, 8}, family::tagged, tag{1});
        const auto sent = pattern(8, 9);
        if (i % 2 == 0) p.send_quiet(p.a, view(sent), family::tagged, tag{1});  // cancel races with its arrival
        const status s = p.b.ep.cancel(r);
        ASSERT_TRUE(s.ok() || s.code() == errc::no_message) << s.text();
        ASSERT_EQ(p.wait(r).outcome.code(), s.ok() ? errc::canceled : errc::ok);
        if (i % 2 != 0) p.send_quiet(p.a, view(sent), family::tagged, tag{1});
        if (s.ok())
            p.wait_ok(p.recv(p.b, buffer{second_room, 8}, family::tagged, tag{1}));
        else
            ASSERT_EQ(i % 2, 0);
    }
}

TEST_P(lifetime, close_cancels_what_is_pending) {
    std::vector<std::byte> large;
    std::vector<std::uint64_t> rooms(800);
    pair_of_endpoints p(GetParam());
    large = pattern(std::min<std::size_t>(p.limits().eager_max * 2 + 1, p.limits().message_size_max), 1);
    std::vector<token> pending;
    for (std::size_t i = 0; i < 400; ++i) {
        pending.push_back(p.recv(p.a, bytes_of(rooms[2 * i]), family::tagged, tag{i}, ignore_bits{i % 3}));
        pending.push_back(p.recv(p.a, bytes_of(rooms[2 * i + 1]), family::untagged));
    }
    // Rendezvous whose other half does not come. (To itself, an untagged one would find its receive.)
    std::vector<token> sends;
    for (std::size_t i = 0; i < 5; ++i) sends.push_back(p.send(p.a, view(large), family::tagged, tag{1u << 20}));
    EXPECT_TRUE(p.a.ep.close().ok());
    std::fill(large.begin(), large.end(), std::byte{0});  // no buffer is used any more
    std::fill(rooms.begin(), rooms.end(), 0);
    for (token t : pending) EXPECT_EQ(p.wait(t).outcome.code(), errc::canceled);
    for (token t : sends) EXPECT_EQ(p.wait(t).outcome.code(), errc::canceled);
    EXPECT_TRUE(p.a.ep.close().ok()) << "closing again is harmless";
    p.settle();
}

// The queue has room for a few entries only; close has many to report.
TEST_P(lifetime, close_into_a_small_queue) {
    std::vector<std::uint64_t> rooms(1000);
    options o;
    o.queue.depth = 8;
    pair_of_endpoints p(GetParam(), o);
    for (std::size_t i = 0; i < rooms.size(); ++i)
        if (!p.attempt("receive", [&](token t) { return p.b.ep.recv(bytes_of(rooms[i]), tag{i}, t); })) break;
    EXPECT_TRUE(p.b.ep.close().ok());
    p.until(
        [&] {
            p.poll(p.b, 1);
            return p.book.pending() == 0;
        },
        "canceled receives");
}

TEST_P(lifetime, everything_answers_closed_after_close) {
    pair_of_endpoints p(GetParam());
    std::byte bytes[8]{};
    const const_buffer out{bytes, 8};
    const buffer in{bytes, 8};
    const std::vector<const_buffer> gathered{out};
    const std::vector<buffer> scattered{in};
    auto& ep = p.a.ep;
    const peer to = p.a.other;
    ASSERT_TRUE(ep.close().ok());
    const std::pair<const char*, status> answers[] = {
        {"send", ep.send(out, to, token{1})},
        {"quiet send", ep.send(out, to, quiet)},
        {"vectored send", ep.send(gathered, to, token{1})},
        {"send with data", ep.send(out, to, token{1}, remote_data{1})},
        {"inject", ep.inject(out, to)},
        {"receive", ep.recv(in, token{1})},
        {"vectored receive", ep.recv(scattered, token{1})},
        {"tagged send", ep.send(out, to, tag{1}, token{1})},
        {"quiet tagged send", ep.send(out, to, tag{1}, quiet)},
        {"vectored tagged send", ep.send(gathered, to, tag{1}, token{1})},
        {"tagged send with data", ep.send(out, to, tag{1}, token{1}, remote_data{1})},
        {"tagged inject", ep.inject(out, to, tag{1})},
        {"tagged receive", ep.recv(in, tag{1}, token{1})},
        {"vectored tagged receive", ep.recv(scattered, tag{1}, token{1})},
        {"cancel", ep.cancel(token{1})},
    };
    for (const auto& [call, answer] : answers) EXPECT_EQ(answer.code(), errc::closed) << call;
    EXPECT_FALSE(ep.path(to).has_value());
    EXPECT_TRUE(ep.close().ok());
}

TEST_P(lifetime, close_without_ever_being_used) {
    for (int i = 0; i < 20; ++i) {
        pair_of_endpoints p(GetParam());
        EXPECT_TRUE(p.a.ep.close().ok());
    }
}

TEST_P(lifetime, moved_from_handles_are_empty) {
    pair_of_endpoints p(GetParam());
    std::byte room[8];
    endpoint<messages> moved = std::move(p.a.ep);
    EXPECT_FALSE(p.a.ep);
    EXPECT_TRUE(p.a.ep.close().ok()) << "closing an empty handle is harmless";
    p.a.ep = std::move(moved);
    EXPECT_FALSE(moved);
    EXPECT_TRUE(p.a.ep);
    auto queue = std::move(p.a.queue);
    EXPECT_FALSE(p.a.queue);
    p.a.queue = std::move(queue);
    const auto sent = pattern(8, 1);
    const token r = p.recv(p.b, buffer{room, 8}, family::tagged);
    p.send_quiet(p.a, view(sent), family::tagged);
    p.wait_ok(r);
    endpoint<caps::tagged> narrower = std::move(p.a.ep);
    EXPECT_TRUE(narrower);
    EXPECT_FALSE(p.a.ep);
}

// All orders of giving up fabric, domain, queue and endpoint, with operations pending and messages under way.
TEST_P(lifetime_of_pairs, destruction_in_every_order) {
    std::vector<int> order{0, 1, 2, 3};
    do {
        SCOPED_TRACE("order " + std::to_string(order[0]) + std::to_string(order[1]) + std::to_string(order[2]) +
                     std::to_string(order[3]));
        std::byte room[8];
        const auto large = pattern(200'000, 1), small = pattern(8, 2);
        const needs want = needs_for(GetParam(), {});
        side other(GetParam(), open_domain(GetParam()));
        std::optional<fabric> fab = fabric::open().value();
        std::optional<domain> dom = fab->best(messages, want).value();
        auto queue = dom->open_queue<entry::tagged>().value();
        auto ep = dom->open<messages>(want, queue).value();
        const peer to = dom->resolve(other.ep.address_text()).value();
        ASSERT_TRUE(ep.recv(buffer{room, 8}, tag{1}, token{1}).ok());
        status s = errc::try_again;
        for (deadline end; s.again() && !end.passed(); queue.poll({}), other.queue.poll({}))
            s = ep.send(view(small), to, tag{2}, quiet);
        ASSERT_TRUE(s.ok()) << s.text();
        s = ep.send(view(large), to, tag{3}, token{2});
        ASSERT_TRUE(s.ok() || s.again()) << s.text();
        for (int step : order) {
            if (step == 0) fab.reset();
            if (step == 1) dom.reset();
            if (step == 2) queue = {};
            if (step == 3) ep = {};
            if (step != 3 && ep) {
                EXPECT_TRUE(ep.send(view(small), to, tag{2}, quiet).code() != errc::closed);
            }
            other.queue.poll({});
        }
    } while (std::next_permutation(order.begin(), order.end()));
}

// Entries that were not read before the handle of the queue went are dropped; the endpoint goes on.
TEST_P(lifetime_of_pairs, the_queue_goes_first_with_unread_entries) {
    std::vector<std::uint64_t> rooms(64);
    pair_of_endpoints p(GetParam());
    const std::uint64_t number = 5;
    side third(GetParam(), *p.a.home);
    third.other = third.home->resolve(p.b.ep.address_text()).value();
    for (auto& room : rooms) ASSERT_TRUE(third.ep.recv(bytes_of(room), tag{1}, token{1}).ok());
    for (int i = 0; i < 8; ++i) {
        const status s = third.ep.send(bytes_of(number), third.other, tag{1}, token{1});
        ASSERT_TRUE(s.ok() || s.again());
    }
    third.queue = {};
    EXPECT_TRUE(third.ep.close().ok());
}

}  // namespace
}  // namespace weft::conformance
