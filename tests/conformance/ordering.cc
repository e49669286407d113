// Per peer and family, messages match in the order they were sent, whichever way they travel.
#include "support.hpp"

#include <algorithm>
#include <random>

namespace weft::conformance {
namespace {

WEFT_SUITE(ordered, every_condition());

constexpr tag the_tag{11};
constexpr std::size_t run_length = 300;

// Sizes that mix all ways of travelling; position i always has the same size.
std::vector<std::size_t> mixed_sizes(const offer& limits) {
    std::mt19937_64 random(4711);
    const auto ways = one_size_per_protocol(limits);
    std::vector<std::size_t> sizes;
    for (std::size_t i = 0; i < run_length; ++i) {
        const std::size_t largest = ways[random() % ways.size()];
        sizes.push_back(8 + random() % (largest > 8 ? largest - 7 : 1));
    }
    return sizes;
}

void check_in_order(const conditions& c, family f, bool receives_first, bool silent) {
    std::vector<std::vector<std::byte>> sent;
    std::vector<guarded_buffer> rooms;
    pair_of_endpoints p(c);
    const auto sizes = mixed_sizes(p.limits());
    const std::size_t largest = *std::max_element(sizes.begin(), sizes.end());
    for (std::size_t i = 0; i < run_length; ++i) {
        sent.push_back(pattern(sizes[i], i));
        rooms.emplace_back(largest);
    }
    std::vector<token> receives;
    const auto receive_all = [&] {
        for (auto& room : rooms) receives.push_back(p.recv(p.b, room.view(), f, the_tag));
    };
    const auto send_one = [&](const_buffer bytes) {
        if (!silent)
            return p
                .attempt("send",
                         [&](token t) {
                             return f == family::tagged ? p.a.ep.send(bytes, p.a.other, the_tag, t)
                                                        : p.a.ep.send(bytes, p.a.other, t);
                         })
                .has_value();
        const status s =
            f == family::tagged ? p.a.ep.send(bytes, p.a.other, the_tag, quiet) : p.a.ep.send(bytes, p.a.other, quiet);
        if (!s.ok() && !s.again()) throw test_failure(std::string("a quiet send was refused: ") + s.text());
        return s.ok();
    };
    std::size_t next = 0;
    const auto send_more = [&] {
        while (next < run_length && send_one(view(sent[next]))) ++next;
        return next == run_length;
    };

    if (receives_first) receive_all();
    // Without receives, the sender may be held back once the receiver's room for unexpected messages is used up.
    for (int i = 0; i < 50 && !receives_first; ++i) {
        send_more();
        p.settle(20);
    }
    if (!receives_first) receive_all();
    p.until(send_more, "all sends to be accepted");
    for (std::size_t i = 0; i < run_length; ++i) {
        ASSERT_EQ(p.wait_ok(receives[i]).size, sizes[i]) << "receive " << i << " took a message sent at another time";
        ASSERT_TRUE(holds(rooms[i].first(sizes[i]), i)) << "message " << i;
    }
    p.wait_all();
    p.finish();
}

TEST_P(ordered, expected) {
    for (family f : families) check_in_order(GetParam(), f, true, false);
}
TEST_P(ordered, unexpected) {
    for (family f : families) check_in_order(GetParam(), f, false, false);
}
TEST_P(ordered, quiet_expected) {
    for (family f : families) check_in_order(GetParam(), f, true, true);
}
TEST_P(ordered, quiet_unexpected) {
    for (family f : families) check_in_order(GetParam(), f, false, true);
}

// Families do not see each other: an untagged receive never takes a tagged message, nor the other way round.
TEST_P(ordered, families_are_apart) {
    pair_of_endpoints p(GetParam());
    for (std::size_t size : one_size_per_protocol(p.limits())) {
        const auto tagged = pattern(size, 1), untagged = pattern(size, 2);
        guarded_buffer tagged_room(size), untagged_room(size), later_room(size);
        const token rt = p.recv(p.b, tagged_room.view(), family::tagged, tag{0}, match_anything);
        const token su = p.send(p.a, view(untagged), family::untagged);
        p.settle(30);
        EXPECT_FALSE(p.book.ended(rt));
        const token st = p.send(p.a, view(tagged), family::tagged, tag{0});
        p.wait_ok(rt);
        EXPECT_TRUE(holds(tagged_room.first(size), 1));
        const token ru = p.recv(p.b, untagged_room.view(), family::untagged);
        p.wait_ok(ru);
        EXPECT_TRUE(holds(untagged_room.first(size), 2));
        p.wait_ok(su);
        p.wait_ok(st);
    }
}

// Large messages under way do not hold up small ones with another tag, and many large ones do not mix.
TEST_P(ordered, many_large_ones_at_once) {
    pair_of_endpoints p(GetParam());
    constexpr std::size_t count = 24;
    const std::size_t size = std::min<std::size_t>(p.limits().eager_max * 4 + 3, p.limits().message_size_max);
    std::vector<std::vector<std::byte>> sent;
    std::vector<guarded_buffer> rooms;
    for (std::size_t i = 0; i < count; ++i) {
        sent.push_back(pattern(size + i, i));
        rooms.emplace_back(size + i);
    }
    std::vector<token> receives(count);
    for (std::size_t i = 0; i < count; ++i) p.send_quiet(p.a, view(sent[i]), family::tagged, tag{i});
    for (std::size_t i = count; i-- > 0;) receives[i] = p.recv(p.b, rooms[i].view(), family::tagged, tag{i});
    for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(p.wait_ok(receives[i]).size, size + i);
        ASSERT_TRUE(holds(rooms[i].first(size + i), i));
    }
}

}  // namespace
}  // namespace weft::conformance
