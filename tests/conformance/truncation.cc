// A message longer than its receive ends that receive with `truncated` and touches nothing else.
#include "support.hpp"

#include <algorithm>

namespace weft::conformance {
namespace {

WEFT_SUITE(truncation, every_condition());

constexpr tag the_tag{3};

TEST_P(truncation, of_one_message_only) {
    pair_of_endpoints p(GetParam());
    std::uint64_t seed = 0;
    for (family f : families)
        for (std::size_t size : one_size_per_protocol(p.limits()))
            for (std::size_t room_size : {std::size_t{0}, std::size_t{1}, size / 2, size - 1})
                for (bool early : {true, false}) {
                    SCOPED_TRACE(std::string(name(f)) + ", " + std::to_string(size) + " bytes into " +
                                 std::to_string(room_size) + (early ? ", expected" : ", unexpected"));
                    const auto before = pattern(size, ++seed), cut = pattern(size, ++seed),
                               after = pattern(size, ++seed);
                    guarded_buffer room1(size), room2(room_size), room3(size);
                    token r1, r2, r3;
                    const auto receive = [&] {
                        r1 = p.recv(p.b, room1.view(), f, the_tag);
                        r2 = p.recv(p.b, room2.view(), f, the_tag);
                        r3 = p.recv(p.b, room3.view(), f, the_tag);
                    };
                    if (early) receive();
                    const token s1 = p.send(p.a, view(before), f, the_tag);
                    const token s2 = p.send(p.a, view(cut), f, the_tag);
                    const token s3 = p.send(p.a, view(after), f, the_tag);
                    if (!early) {
                        p.settle(30);
                        receive();
                    }
                    EXPECT_EQ(p.wait_ok(r1).size, size);
                    const completion c = p.wait(r2);
                    EXPECT_EQ(c.outcome.code(), errc::truncated) << c.outcome.text();
                    EXPECT_EQ(c.what, op::recv);
                    EXPECT_EQ(c.size, room_size) << "the bytes that were placed";
                    EXPECT_EQ(c.source, p.b.other);
                    if (f == family::tagged) {
                        EXPECT_EQ(c.tag, the_tag);
                    }
                    EXPECT_EQ(p.wait_ok(r3).size, size);
                    EXPECT_TRUE(holds(room1.first(size), seed - 2));
                    // The pattern comes in words of eight bytes; the prefix of a word is compared as bytes.
                    EXPECT_TRUE(std::equal(cut.begin(), cut.begin() + static_cast<std::ptrdiff_t>(room_size),
                                           room2.first(room_size).begin()));
                    EXPECT_TRUE(room2.untouched_beyond(room_size));
                    EXPECT_TRUE(holds(room3.first(size), seed));
                    // The sender has done its part; the receiver alone knows how much room it had.
                    for (token s : {s1, s2, s3}) p.wait_ok(s);
                }
}

TEST_P(truncation, across_pieces) {
    pair_of_endpoints p(GetParam());
    std::uint64_t seed = 0;
    for (std::size_t size : one_size_per_protocol(p.limits())) {
        SCOPED_TRACE(std::to_string(size) + " bytes");
        const auto sent = pattern(size, ++seed);
        guarded_buffer room(size - 1);
        const std::size_t middle = (size - 1) / 2;
        const std::vector<buffer> pieces{room.view(0, middle), buffer{}, room.view(middle, size - 1 - middle)};
        const token r = p.post("vectored receive", [&](token t) { return p.b.ep.recv(pieces, the_tag, t); });
        const token s = p.send(p.a, view(sent), family::tagged, the_tag);
        const completion c = p.wait(r);
        EXPECT_EQ(c.outcome.code(), errc::truncated);
        EXPECT_EQ(c.size, size - 1);
        EXPECT_TRUE(std::equal(sent.begin(), sent.end() - 1, room.first(size - 1).begin()));
        EXPECT_TRUE(room.untouched_beyond(size - 1));
        p.wait_ok(s);
    }
}

TEST_P(truncation, of_many_in_a_row) {
    pair_of_endpoints p(GetParam());
    for (std::size_t size : one_size_per_protocol(p.limits())) {
        SCOPED_TRACE(std::to_string(size) + " bytes");
        const auto sent = pattern(size, size);
        for (int i = 0; i < 200; ++i) {
            guarded_buffer room(i % 2 == 0 ? size / 3 : size);
            const token r = p.recv(p.b, room.view(), family::untagged);
            p.send_quiet(p.a, view(sent), family::untagged);
            const completion c = p.wait(r);
            ASSERT_EQ(c.outcome.code(), i % 2 == 0 ? errc::truncated : errc::ok);
            ASSERT_TRUE(room.untouched_beyond(room.size()));
        }
    }
}

}  // namespace
}  // namespace weft::conformance
