// Messages gathered from and scattered to several pieces.
#include "support.hpp"

#include <algorithm>

namespace weft::conformance {
namespace {

WEFT_SUITE(vectored, every_condition());

constexpr tag the_tag{42};

// Cuts `size` bytes into `count` pieces at positions that depend on the seed; some pieces are empty.
std::vector<std::size_t> cut(std::size_t size, std::size_t count, std::uint64_t seed) {
    std::vector<std::size_t> parts(count, 0);
    std::size_t left = size;
    for (std::size_t i = 0; i + 1 < count; ++i) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        const std::size_t piece = (seed >> 33) % 4 == 0 ? 0 : (seed >> 35) % (left / 2 + 2);
        parts[i] = std::min(piece, left);
        left -= parts[i];
    }
    parts[count - 1] = left;
    return parts;
}

std::vector<const_buffer> gather(const std::vector<std::byte>& from, const std::vector<std::size_t>& parts) {
    std::vector<const_buffer> pieces;
    std::size_t at = 0;
    for (std::size_t n : parts) {
        pieces.emplace_back(n == 0 ? nullptr : from.data() + at, n);
        at += n;
    }
    return pieces;
}

std::vector<buffer> scatter(guarded_buffer& to, const std::vector<std::size_t>& parts) {
    std::vector<buffer> pieces;
    std::size_t at = 0;
    for (std::size_t n : parts) {
        pieces.push_back(n == 0 ? buffer{} : to.view(at, n));
        at += n;
    }
    return pieces;
}

token sendv(pair_of_endpoints& p, std::span<const const_buffer> pieces, family f) {
    return p.post("vectored send", [&](token t) {
        return f == family::tagged ? p.a.ep.send(pieces, p.a.other, the_tag, t) : p.a.ep.send(pieces, p.a.other, t);
    });
}

token recvv(pair_of_endpoints& p, std::span<const buffer> pieces, family f) {
    return p.post("vectored receive", [&](token t) {
        return f == family::tagged ? p.b.ep.recv(pieces, the_tag, t) : p.b.ep.recv(pieces, t);
    });
}

std::vector<std::size_t> vector_sizes(const offer& limits) {
    std::vector<std::size_t> sizes{0, 1, 5, 31, 64, 65, 257};
    for (std::size_t n : one_size_per_protocol(limits)) sizes.push_back(n);
    sizes.push_back(limits.eager_max);
    sizes.push_back(limits.eager_max + 1);
    return sizes;
}

std::size_t most_pieces(const offer& limits) { return std::min<std::size_t>(limits.iov_count_max, 16); }

TEST_P(vectored, gathered_and_scattered) {
    pair_of_endpoints p(GetParam());
    ASSERT_GE(p.limits().iov_count_max, needs{}.iov_count_min);
    std::uint64_t seed = 1;
    for (family f : families)
        for (std::size_t size : vector_sizes(p.limits()))
            for (std::size_t count = 1; count <= most_pieces(p.limits()); ++count)
                for (bool early : {true, false}) {
                    SCOPED_TRACE(std::string(name(f)) + ", " + std::to_string(size) + " bytes, " +
                                 std::to_string(count) + " pieces, " + (early ? "expected" : "unexpected"));
                    const auto sent = pattern(size, ++seed);
                    guarded_buffer room(size);
                    // The arrays of pieces are temporaries: they are only needed until the call returns.
                    token r;
                    if (early) r = recvv(p, scatter(room, cut(size, count, seed * 3)), f);
                    const token s = sendv(p, gather(sent, cut(size, count, seed)), f);
                    if (!early) {
                        p.settle(30);
                        r = recvv(p, scatter(room, cut(size, count, seed * 3)), f);
                    }
                    p.wait_ok(s);
                    EXPECT_EQ(p.wait_ok(r).size, size);
                    ASSERT_TRUE(holds(room.first(size), seed));
                    ASSERT_TRUE(room.untouched_beyond(size));
                }
}

TEST_P(vectored, gathered_into_one_and_one_scattered) {
    pair_of_endpoints p(GetParam());
    std::uint64_t seed = 500;
    for (family f : families)
        for (std::size_t size : vector_sizes(p.limits())) {
            SCOPED_TRACE(std::string(name(f)) + ", " + std::to_string(size) + " bytes");
            const auto sent = pattern(size, ++seed);
            guarded_buffer whole(size), pieces(size);
            const token r1 = p.recv(p.b, whole.view(), f, the_tag);
            const token s1 = sendv(p, gather(sent, cut(size, most_pieces(p.limits()), seed)), f);
            p.wait_ok(s1);
            EXPECT_EQ(p.wait_ok(r1).size, size);
            EXPECT_TRUE(holds(whole.first(size), seed));
            const token r2 = recvv(p, scatter(pieces, cut(size, most_pieces(p.limits()), seed)), f);
            const token s2 = p.send(p.a, view(sent), f, the_tag);
            p.wait_ok(s2);
            EXPECT_EQ(p.wait_ok(r2).size, size);
            EXPECT_TRUE(holds(pieces.first(size), seed));
            EXPECT_TRUE(pieces.untouched_beyond(size));
        }
}

// The message ends within, or exactly at the edge of, a piece; what comes after stays as it was.
TEST_P(vectored, shorter_than_the_pieces) {
    pair_of_endpoints p(GetParam());
    for (family f : families)
        for (std::size_t unit : {std::size_t{10}, p.limits().eager_max})
            for (std::size_t size : {std::size_t{0}, unit - 1, unit, unit + 1, 2 * unit, 3 * unit - 1}) {
                SCOPED_TRACE(std::string(name(f)) + ", " + std::to_string(size) + " of " + std::to_string(3 * unit));
                const auto sent = pattern(size, size + 1);
                guarded_buffer room(3 * unit);
                const token r = recvv(p, scatter(room, {unit, unit, unit}), f);
                const token s = p.send(p.a, view(sent), f, the_tag);
                p.wait_ok(s);
                EXPECT_EQ(p.wait_ok(r).size, size);
                EXPECT_TRUE(holds(room.first(size), size + 1));
                EXPECT_TRUE(room.untouched_beyond(size));
            }
}

TEST_P(vectored, no_pieces_are_an_empty_message) {
    pair_of_endpoints p(GetParam());
    for (family f : families) {
        const token r = recvv(p, {}, f);
        const token s = sendv(p, {}, f);
        p.wait_ok(s);
        EXPECT_EQ(p.wait_ok(r).size, 0u);
    }
}

TEST_P(vectored, one_piece_too_many_is_refused) {
    pair_of_endpoints p(GetParam());
    const std::size_t limit = p.limits().iov_count_max;
    if (limit > 65536) GTEST_SKIP() << "iov_count_max is " << limit;
    std::byte memory[8]{};
    const std::vector<const_buffer> out(limit + 1, const_buffer{memory, 1});
    const std::vector<buffer> in(limit + 1, buffer{memory, 1});
    EXPECT_EQ(p.a.ep.send(out, p.a.other, the_tag, token{1}).code(), errc::invalid_argument);
    EXPECT_EQ(p.a.ep.send(out, p.a.other, token{1}).code(), errc::invalid_argument);
    EXPECT_EQ(p.b.ep.recv(in, the_tag, token{1}).code(), errc::invalid_argument);
    EXPECT_EQ(p.b.ep.recv(in, token{1}).code(), errc::invalid_argument);
}

}  // namespace
}  // namespace weft::conformance
