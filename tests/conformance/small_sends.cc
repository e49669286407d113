// Inject, quiet sends, remote data, and what entries say about source and tag.
#include "support.hpp"

namespace weft::conformance {
namespace {

WEFT_SUITE(small_sends, every_condition());

constexpr tag the_tag{7};

TEST_P(small_sends, inject_up_to_its_limit_and_reuse_the_buffer) {
    pair_of_endpoints p(GetParam());
    const std::size_t limit = p.limits().inject_size_max;
    ASSERT_GE(limit, needs{}.inject_size_min);
    std::vector<std::size_t> sizes;
    for (std::size_t n = 0; n <= std::min<std::size_t>(limit, 300); ++n) sizes.push_back(n);
    for (std::size_t n : {limit / 2, limit - 1, limit}) sizes.push_back(n);
    std::vector<std::byte> one_buffer(limit);
    std::uint64_t seed = 0;
    for (family f : families)
        for (std::size_t size : sizes)
            for (bool early : {true, false}) {
                SCOPED_TRACE(std::string(name(f)) + ", " + std::to_string(size) + " bytes");
                guarded_buffer room(size);
                token r;
                if (early) r = p.recv(p.b, room.view(), f, the_tag);
                fill(std::span(one_buffer).first(size), ++seed);
                p.inject(p.a, const_buffer{one_buffer.data(), size}, f, the_tag);
                fill(one_buffer, ~seed);  // at once: the library has its own copy or none is needed
                if (!early) r = p.recv(p.b, room.view(), f, the_tag);
                const completion c = p.wait_ok(r);
                ASSERT_EQ(c.size, size);
                ASSERT_TRUE(holds(room.first(size), seed));
            }
}

TEST_P(small_sends, inject_beyond_its_limit_is_too_long) {
    pair_of_endpoints p(GetParam());
    const std::size_t limit = p.limits().inject_size_max;
    const std::vector<std::byte> bytes(limit + 1);
    EXPECT_EQ(p.a.ep.inject(view(bytes), p.a.other, the_tag).code(), errc::message_too_long);
    EXPECT_EQ(p.a.ep.inject(view(bytes), p.a.other).code(), errc::message_too_long);
    // And nothing was sent by it.
    std::byte room[8];
    const token r = p.recv(p.b, buffer{room, 8}, family::tagged, tag{0}, match_anything);
    p.settle();
    EXPECT_FALSE(p.book.ended(r));
    p.finish();
}

TEST_P(small_sends, quiet_and_injected_ones_make_no_completion) {
    pair_of_endpoints p(GetParam());
    for (family f : families)
        for (std::size_t size : one_size_per_protocol(p.limits())) {
            SCOPED_TRACE(std::string(name(f)) + ", " + std::to_string(size) + " bytes");
            const auto sent = pattern(size, size);
            for (int i = 0; i < 5; ++i) {
                guarded_buffer room(size);
                const token r = p.recv(p.b, room.view(), f, the_tag);
                p.send_quiet(p.a, view(sent), f, the_tag);
                EXPECT_EQ(p.wait_ok(r).size, size);  // the ledger fails on any entry it has no token for
                EXPECT_TRUE(holds(room.first(size), size));
            }
            p.settle();
        }
    EXPECT_TRUE(p.book.take_quiet_failures().empty());
}

TEST_P(small_sends, remote_data_arrives_beside_the_message) {
    options o;
    o.want.remote_data = true;
    pair_of_endpoints p(GetParam(), o);
    constexpr remote_data values[] = {remote_data{0}, remote_data{1}, remote_data{0x0123456789abcdefu},
                                      remote_data{~std::uint64_t{0}}};
    std::vector<std::size_t> sizes = one_size_per_protocol(p.limits());
    for (std::size_t n : {std::size_t{0}, p.limits().inline_max, p.limits().inline_max + 1, p.limits().eager_max,
                          p.limits().eager_max + 1})
        sizes.push_back(n);
    for (family f : families)
        for (std::size_t size : sizes)
            for (remote_data d : values)
                for (bool early : {true, false}) {
                    SCOPED_TRACE(std::string(name(f)) + ", " + std::to_string(size) + " bytes");
                    const auto sent = pattern(size, d.value);
                    guarded_buffer room(size);
                    token r;
                    if (early) r = p.recv(p.b, room.view(), f, the_tag);
                    const token s = p.post("send with data", [&](token t) {
                        return f == family::tagged ? p.a.ep.send(view(sent), p.a.other, the_tag, t, d)
                                                   : p.a.ep.send(view(sent), p.a.other, t, d);
                    });
                    if (!early) {
                        p.settle(30);
                        r = p.recv(p.b, room.view(), f, the_tag);
                    }
                    p.wait_ok(s);
                    const completion c = p.wait_ok(r);
                    EXPECT_NE(c.flags & entry::has_data, 0);
                    EXPECT_EQ(c.data, d);
                    EXPECT_EQ(c.size, size);
                    EXPECT_TRUE(holds(room.first(size), d.value));
                }
    // A message without data after one with it says so.
    std::byte room[8];
    const auto plain = pattern(8, 1);
    const token r = p.recv(p.b, buffer{room, 8}, family::tagged, the_tag);
    p.send_quiet(p.a, view(plain), family::tagged, the_tag);
    EXPECT_EQ(p.wait_ok(r).flags & entry::has_data, 0);
}

TEST_P(small_sends, entries_name_source_destination_and_tag) {
    pair_of_endpoints p(GetParam());
    for (std::size_t size : one_size_per_protocol(p.limits())) {
        const auto sent = pattern(size, 3);
        guarded_buffer room(size);
        const token r = p.recv(p.b, room.view(), family::tagged, tag{0xff00}, ignore_bits{0xff});
        const token s = p.send(p.a, view(sent), family::tagged, tag{0xff42});
        const completion at_sender = p.wait_ok(s), at_receiver = p.wait_ok(r);
        EXPECT_EQ(at_sender.what, op::send);
        EXPECT_EQ(at_sender.source, p.a.other);
        EXPECT_EQ(at_receiver.what, op::recv);
        EXPECT_EQ(at_receiver.source, p.b.other);
        EXPECT_EQ(at_receiver.tag, tag{0xff42}) << "the tag that was sent, not the one that was posted";
    }
}

TEST_P(small_sends, a_peer_that_made_contact_is_the_one_that_resolve_gives) {
    options o;
    o.b_resolves_a = false;
    pair_of_endpoints p(GetParam(), o);
    std::byte room[8];
    const auto sent = pattern(8, 1);
    const token r = p.recv(p.b, buffer{room, 8}, family::tagged, the_tag);
    p.send_quiet(p.a, view(sent), family::tagged, the_tag);
    const peer source = p.wait_ok(r).source;

    EXPECT_EQ(p.b.home->resolve(p.a.ep.address_text()).value(), source);
    EXPECT_EQ(p.b.home->insert(p.a.ep.address().view()).value(), source);
    EXPECT_EQ(p.b.home->text_of(source), p.a.ep.address_text());

    // Replying to the source of a message needs nothing else.
    p.b.other = source;
    const auto reply = pattern(8, 2);
    std::byte reply_room[8];
    const token answer = p.recv(p.a, buffer{reply_room, 8}, family::untagged);
    p.send_quiet(p.b, view(reply), family::untagged);
    EXPECT_EQ(p.wait_ok(answer).source, p.a.other);
    EXPECT_TRUE(holds(reply_room, 2));
}

// Both contact each other before either has polled once.
TEST_P(small_sends, simultaneous_first_contact) {
    pair_of_endpoints p(GetParam());
    const auto from_a = pattern(32, 1), from_b = pattern(32, 2);
    guarded_buffer at_a(32), at_b(32);
    const token s1 = p.book.open("first send of a"), s2 = p.book.open("first send of b");
    status a = p.a.ep.send(view(from_a), p.a.other, tag{1}, s1);
    status b = p.b.ep.send(view(from_b), p.b.other, tag{2}, s2);
    p.until(
        [&] {
            if (a.again()) a = p.a.ep.send(view(from_a), p.a.other, tag{1}, s1);
            if (b.again()) b = p.b.ep.send(view(from_b), p.b.other, tag{2}, s2);
            return !a.again() && !b.again();
        },
        "both first sends to be accepted");
    ASSERT_TRUE(a.ok() && b.ok()) << a.text() << " / " << b.text();
    const token rb = p.recv(p.b, at_b.view(), family::tagged, tag{1});
    const token ra = p.recv(p.a, at_a.view(), family::tagged, tag{2});
    for (token t : {s1, s2, ra, rb}) p.wait_ok(t);
    EXPECT_TRUE(holds(at_b.first(32), 1));
    EXPECT_TRUE(holds(at_a.first(32), 2));
}

}  // namespace
}  // namespace weft::conformance
