// Messages of every interesting size arrive whole, expected and unexpected, and touch nothing beyond themselves.
#include "support.hpp"

namespace weft::conformance {
namespace {

WEFT_SUITE(sizes, every_condition());

constexpr tag the_tag{0xfedcba9876543210u};

void check_arrival(const completion& c, const guarded_buffer& room, std::size_t size, std::uint64_t seed, side& at,
                   family f) {
    EXPECT_TRUE(c.outcome.ok()) << c.outcome.text();
    EXPECT_EQ(c.what, op::recv);
    EXPECT_EQ(c.size, size);
    EXPECT_EQ(c.source, at.other);
    EXPECT_EQ(c.flags & entry::has_data, 0);
    if (f == family::tagged) {
        EXPECT_EQ(c.tag, the_tag);
    }
    EXPECT_TRUE(holds(room.first(size), seed));
    EXPECT_TRUE(room.untouched_beyond(size));
}

TEST_P(sizes, expected) {
    pair_of_endpoints p(GetParam());
    std::uint64_t seed = 1;
    for (family f : families)
        for (std::size_t size : interesting_sizes(p.limits())) {
            SCOPED_TRACE(std::string(name(f)) + ", " + std::to_string(size) + " bytes");
            const auto sent = pattern(size, ++seed);
            guarded_buffer room(size);
            const token r = p.recv(p.b, room.view(), f, the_tag);
            const token s = p.send(p.a, view(sent), f, the_tag);
            EXPECT_EQ(p.wait_ok(s).what, op::send);
            check_arrival(p.wait(r), room, size, seed, p.b, f);
            EXPECT_TRUE(holds(sent, seed)) << "the sender's buffer was changed";
        }
}

TEST_P(sizes, unexpected) {
    pair_of_endpoints p(GetParam());
    std::uint64_t seed = 1000;
    for (family f : families)
        for (std::size_t size : interesting_sizes(p.limits())) {
            SCOPED_TRACE(std::string(name(f)) + ", " + std::to_string(size) + " bytes");
            const auto sent = pattern(size, ++seed);
            const token s = p.send(p.a, view(sent), f, the_tag);
            p.settle(50);  // lets it arrive before there is a receive
            guarded_buffer room(size);
            const token r = p.recv(p.b, room.view(), f, the_tag);
            check_arrival(p.wait(r), room, size, seed, p.b, f);
            p.wait_ok(s);
        }
}

TEST_P(sizes, into_larger_buffers) {
    pair_of_endpoints p(GetParam());
    std::uint64_t seed = 2000;
    for (family f : families)
        for (std::size_t size : interesting_sizes(p.limits())) {
            if (size > 100'000) continue;  // what is meant is seen below; large ones only take time
            SCOPED_TRACE(std::string(name(f)) + ", " + std::to_string(size) + " bytes");
            const auto sent = pattern(size, ++seed);
            guarded_buffer room(size * 2 + 100);
            const token r = p.recv(p.b, room.view(), f, the_tag);
            const token s = p.send(p.a, view(sent), f, the_tag);
            check_arrival(p.wait(r), room, size, seed, p.b, f);
            p.wait_ok(s);
        }
}

TEST_P(sizes, both_directions_at_once) {
    pair_of_endpoints p(GetParam());
    std::uint64_t seed = 3000;
    for (family f : families)
        for (std::size_t size : interesting_sizes(p.limits())) {
            SCOPED_TRACE(std::string(name(f)) + ", " + std::to_string(size) + " bytes");
            const auto from_a = pattern(size, ++seed), from_b = pattern(size, ++seed);
            guarded_buffer at_a(size), at_b(size);
            // To itself, the two messages are told apart by order.
            const token ra = p.recv(p.is_self() ? p.b : p.a, p.is_self() ? at_b.view() : at_a.view(), f, the_tag);
            const token rb = p.recv(p.b, p.is_self() ? at_a.view() : at_b.view(), f, the_tag);
            const token sa = p.send(p.a, view(from_a), f, the_tag);
            const token sb = p.send(p.b, view(from_b), f, the_tag);
            for (token t : {ra, rb, sa, sb}) p.wait_ok(t);
            EXPECT_TRUE(holds(at_a.first(size), seed));
            EXPECT_TRUE(holds(at_b.first(size), seed - 1));
        }
}

TEST_P(sizes, from_and_to_odd_addresses) {
    pair_of_endpoints p(GetParam());
    std::uint64_t seed = 4000;
    for (std::size_t size : one_size_per_protocol(p.limits()))
        for (std::size_t shift = 1; shift < 8; shift += 2) {
            SCOPED_TRACE(std::to_string(size) + " bytes shifted by " + std::to_string(shift));
            std::vector<std::byte> memory(size + shift);
            fill(std::span(memory).subspan(shift), ++seed);
            guarded_buffer room(size + 9);
            const token r = p.recv(p.b, room.view(9 - shift, size), family::tagged, the_tag);
            const token s = p.send(p.a, const_buffer{memory.data() + shift, size}, family::tagged, the_tag);
            p.wait_ok(s);
            EXPECT_EQ(p.wait_ok(r).size, size);
            EXPECT_TRUE(holds(room.part(9 - shift, size), seed));
        }
}

TEST_P(sizes, empty_message_with_null_pointers) {
    pair_of_endpoints p(GetParam());
    for (family f : families) {
        const token r = p.recv(p.b, buffer{}, f, the_tag);
        const token s = p.send(p.a, const_buffer{}, f, the_tag);
        p.wait_ok(s);
        EXPECT_EQ(p.wait_ok(r).size, 0u);
        const token late = p.send(p.a, const_buffer{}, f, the_tag);
        p.settle(50);
        EXPECT_EQ(p.wait_ok(p.recv(p.b, buffer{}, f, the_tag)).size, 0u);
        p.wait_ok(late);
    }
}

// Every size below a few slots: copies of small messages are often unrolled by size.
TEST_P(sizes, every_small_size) {
    pair_of_endpoints p(GetParam());
    for (family f : families)
        for (std::size_t size = 0; size <= 520; ++size) {
            const auto sent = pattern(size, size);
            guarded_buffer room(size);
            const token r = p.recv(p.b, room.view(), f, the_tag);
            p.send_quiet(p.a, view(sent), f, the_tag);
            p.wait_ok(r);
            ASSERT_TRUE(holds(room.first(size), size)) << size << " bytes";
            ASSERT_TRUE(room.untouched_beyond(size)) << size << " bytes";
        }
}

// The largest message there may be, if memory for it is reasonable.
TEST_P(sizes, the_limit_itself) {
    pair_of_endpoints p(GetParam());
    const auto limit = p.limits().message_size_max;
    EXPECT_GE(limit, largest_message) << "the endpoint was opened with this as message_size_min";
    if (limit > 64u << 20) GTEST_SKIP() << "message_size_max is " << limit << " bytes";
    const auto sent = pattern(limit, 7);
    guarded_buffer room(limit);
    const token r = p.recv(p.b, room.view(), family::tagged, the_tag);
    const token s = p.send(p.a, view(sent), family::tagged, the_tag);
    p.wait_ok(s);
    EXPECT_EQ(p.wait_ok(r).size, limit);
    EXPECT_TRUE(holds(room.first(limit), 7));
}

}  // namespace
}  // namespace weft::conformance
