// Which receive takes which message: exact and ignored tag bits, posting order, directed receives.
#include "support.hpp"

namespace weft::conformance {
namespace {

WEFT_SUITE(matching, every_condition());

TEST_P(matching, exact_tags_out_of_order) {
    pair_of_endpoints p(GetParam());
    constexpr std::size_t count = 200;
    for (std::size_t size : one_size_per_protocol(p.limits())) {
        if (size > p.limits().eager_max) continue;  // 200 outstanding large ones are another test's business
        for (bool early : {true, false}) {
            std::vector<std::vector<std::byte>> sent;
            std::vector<guarded_buffer> rooms(count, guarded_buffer(size));
            std::vector<token> receives(count);
            for (std::size_t i = 0; i < count; ++i) sent.push_back(pattern(size, i));
            const auto receive_backwards = [&] {
                for (std::size_t i = count; i-- > 0;)
                    receives[i] = p.recv(p.b, rooms[i].view(), family::tagged, tag{i << 40});
            };
            if (early) receive_backwards();
            for (std::size_t i = 0; i < count; ++i) p.send_quiet(p.a, view(sent[i]), family::tagged, tag{i << 40});
            if (!early) receive_backwards();
            for (std::size_t i = 0; i < count; ++i) {
                ASSERT_EQ(p.wait_ok(receives[i]).tag, tag{i << 40});
                ASSERT_TRUE(holds(rooms[i].first(size), i));
            }
        }
    }
}

TEST_P(matching, every_single_bit_of_the_tag_counts) {
    std::byte never[8];
    pair_of_endpoints p(GetParam());
    constexpr std::uint64_t base = 0x5a5a5a5a5a5a5a5au;
    // One receive that must not match any of the messages; one receive that ignores exactly the flipped bit.
    const token trap = p.recv(p.b, buffer{never, 8}, family::tagged, tag{base});
    for (unsigned bit = 0; bit < 64; ++bit) {
        const std::uint64_t flipped = base ^ (std::uint64_t{1} << bit);
        std::byte room[8];
        const auto sent = pattern(8, bit);
        p.send_quiet(p.a, view(sent), family::tagged, tag{flipped});
        p.settle(10);
        ASSERT_FALSE(p.book.ended(trap)) << "bit " << bit << " was not compared";
        const token exact = p.recv(p.b, buffer{room, 8}, family::tagged, tag{flipped});
        ASSERT_EQ(p.wait_ok(exact).tag, tag{flipped});
        ASSERT_TRUE(holds(room, bit));
    }
    EXPECT_TRUE(p.b.ep.cancel(trap).ok());
    p.wait(trap);
    for (unsigned bit = 0; bit < 64; ++bit) {
        const std::uint64_t mask = std::uint64_t{1} << bit;
        std::byte room[8];
        const auto sent = pattern(8, bit);
        const token r = p.recv(p.b, buffer{room, 8}, family::tagged, tag{base}, ignore_bits{mask});
        p.send_quiet(p.a, view(sent), family::tagged, tag{base ^ mask});
        ASSERT_EQ(p.wait_ok(r).tag, tag{base ^ mask}) << "bit " << bit << " should have been ignored";
    }
}

// Among several receives that fit, the one posted first takes the message, whether exact or with ignored bits.
TEST_P(matching, earliest_posted_of_those_that_fit) {
    pair_of_endpoints p(GetParam());
    struct posted {
        std::uint64_t tag, ignore;
    };
    constexpr posted receives[] = {
        {0x10, 0}, {0x00, ~std::uint64_t{0}}, {0x10, 0x0f}, {0x10, 0}, {0x20, 0}, {0x00, ~std::uint64_t{0}},
    };
    struct message {
        std::uint64_t tag;
        std::size_t taken_by;
    };
    // 0x10: the first. 0x20: the wildcard posted before the exact one. Then 0x10 goes to the masked one before
    // the second exact one, 0x10 to that, 0x99 to the last wildcard (the exact 0x20 does not fit), 0x20 at last.
    constexpr message arrivals[] = {{0x10, 0}, {0x20, 1}, {0x10, 2}, {0x10, 3}, {0x99, 5}, {0x20, 4}};
    for (std::size_t size : one_size_per_protocol(p.limits())) {
        std::vector<guarded_buffer> rooms(std::size(receives), guarded_buffer(size));
        std::vector<std::vector<std::byte>> sent;
        std::vector<token> tokens;
        for (std::size_t i = 0; i < std::size(receives); ++i)
            tokens.push_back(
                p.recv(p.b, rooms[i].view(), family::tagged, tag{receives[i].tag}, ignore_bits{receives[i].ignore}));
        for (const auto& m : arrivals) sent.push_back(pattern(size, m.tag * 100 + m.taken_by));
        for (std::size_t i = 0; i < std::size(arrivals); ++i)
            p.send_quiet(p.a, view(sent[i]), family::tagged, tag{arrivals[i].tag});
        for (const auto& m : arrivals) {
            EXPECT_EQ(p.wait_ok(tokens[m.taken_by]).tag, tag{m.tag}) << "receive " << m.taken_by;
            EXPECT_TRUE(holds(rooms[m.taken_by].first(size), m.tag * 100 + m.taken_by)) << "receive " << m.taken_by;
        }
    }
}

// A wildcard takes the message that came first of all, an exact receive the first of its tag.
TEST_P(matching, earliest_unexpected_message_that_fits) {
    pair_of_endpoints p(GetParam());
    for (std::size_t size : one_size_per_protocol(p.limits())) {
        constexpr std::uint64_t tags[] = {5, 6, 5, 7, 6};
        std::vector<std::vector<std::byte>> sent;
        for (std::size_t i = 0; i < std::size(tags); ++i) sent.push_back(pattern(size, i));
        for (std::size_t i = 0; i < std::size(tags); ++i)
            p.send_quiet(p.a, view(sent[i]), family::tagged, tag{tags[i]});
        p.settle(30);
        const auto takes = [&](tag g, ignore_bits i, std::size_t which) {
            guarded_buffer room(size);
            const completion c = p.wait_ok(p.recv(p.b, room.view(), family::tagged, g, i));
            EXPECT_EQ(c.tag, tag{tags[which]});
            EXPECT_TRUE(holds(room.first(size), which)) << "message " << which << " was due";
        };
        takes(tag{6}, match_exactly, 1);
        takes(tag{0}, match_anything, 0);
        takes(tag{4}, ignore_bits{3}, 2);  // 4 to 7
        takes(tag{6}, match_exactly, 4);
        takes(tag{0}, match_anything, 3);
    }
}

TEST_P(matching, overlapping_masks) {
    pair_of_endpoints p(GetParam());
    // Receive i ignores the lowest i bits; messages fit more and more of them.
    constexpr unsigned count = 16;
    std::byte rooms[count][8];
    std::vector<token> receives;
    for (unsigned i = 0; i < count; ++i)
        receives.push_back(
            p.recv(p.b, buffer{rooms[i], 8}, family::tagged, tag{0}, ignore_bits{(std::uint64_t{1} << i) - 1}));
    for (unsigned i = count; i-- > 0;) {  // tag 2^(i-1) fits only the receives from i on; the earliest one is i
        const auto sent = pattern(8, i);
        p.send_quiet(p.a, view(sent), family::tagged, tag{i == 0 ? 0 : std::uint64_t{1} << (i - 1)});
        ASSERT_TRUE(p.wait_ok(receives[i]).outcome.ok());
        ASSERT_TRUE(holds(rooms[i], i)) << "receive that ignores " << i << " bits";
    }
}

// Three endpoints: receives that name a source take only its messages.
TEST_P(matching, directed_receives) {
    const conditions& c = GetParam();
    const domain home = open_domain(c);
    side target(c, home), one(c, home), two(c, c.place == placement::two_domains ? open_domain(c) : home);
    guarded_buffer room_one(64), room_two(64), room_any(64);
    harness h(c.provider);
    for (side* s : {&target, &one, &two}) h.attend(*s);
    for (side* s : {&one, &two}) s->other = s->home->resolve(target.ep.address_text()).value();
    const peer from_one = target.home->resolve(one.ep.address_text()).value();
    const peer from_two = target.home->resolve(two.ep.address_text()).value();
    EXPECT_NE(from_one, from_two);
    for (family f : families)
        for (bool early : {true, false}) {
            SCOPED_TRACE(std::string(name(f)) + (early ? ", expected" : ", unexpected"));
            const auto by_one = pattern(64, 1), by_two = pattern(64, 2), again = pattern(64, 3);
            token r_two, r_one;
            if (early) {
                r_two = h.recv(target, room_two.view(), f, tag{1}, match_exactly, from_two);
                r_one = h.recv(target, room_one.view(), f, tag{1}, match_exactly, from_one);
            }
            h.send_quiet(one, view(by_one), f, tag{1});
            h.settle(30);
            if (early) {
                EXPECT_FALSE(h.book.ended(r_two)) << "took a message of somebody else";
            }
            h.send_quiet(two, view(by_two), f, tag{1});
            h.settle(30);
            if (!early) {
                r_two = h.recv(target, room_two.view(), f, tag{1}, match_exactly, from_two);
                r_one = h.recv(target, room_one.view(), f, tag{1}, match_exactly, from_one);
            }
            EXPECT_EQ(h.wait_ok(r_one).source, from_one);
            EXPECT_EQ(h.wait_ok(r_two).source, from_two);
            EXPECT_TRUE(holds(room_one.first(64), 1));
            EXPECT_TRUE(holds(room_two.first(64), 2));
            // An open receive posted before a directed one goes first.
            const token any = h.recv(target, room_any.view(), f, tag{1});
            const token directed = h.recv(target, room_two.view(), f, tag{1}, match_exactly, from_two);
            h.send_quiet(two, view(again), f, tag{1});
            EXPECT_EQ(h.wait_ok(any).source, from_two);
            EXPECT_FALSE(h.book.ended(directed));
            h.send_quiet(two, view(by_two), f, tag{1});
            h.wait_ok(directed);
        }
}

// Many receives and messages at once stay correct (and, with linear searches, would not end in time).
TEST_P(matching, many_posted_receives) {
    constexpr std::size_t count = sanitized ? 2'000 : 10'000;
    std::vector<std::uint64_t> rooms(count, ~std::uint64_t{0});
    options o;
    o.want.posted_receives_min = count;
    o.queue.depth = 2 * count;
    const auto possible = fabric::open().value().offers(messages, needs_for(GetParam(), o.want));
    if (possible.offers.empty()) GTEST_SKIP() << possible.refusals.at(0).text();
    pair_of_endpoints p(GetParam(), o);
    std::vector<token> receives;
    for (std::size_t i = 0; i < count; ++i) receives.push_back(p.recv(p.b, bytes_of(rooms[i]), family::tagged, tag{i}));
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t which = i * 7919 % count;  // a permutation: 7919 is prime and does not divide the count
        p.inject(p.a, bytes_of(which), family::tagged, tag{which});
    }
    p.wait_all();
    for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(rooms[i], i);
        ASSERT_EQ(p.book.of(receives[i]).tag, tag{i});
    }
}

}  // namespace
}  // namespace weft::conformance
