// Limits and back-pressure: more than there is room for is answered with try_again, and nothing is ever lost.
#include "support.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace weft::conformance {
namespace {

WEFT_SUITE(flow, every_condition());

std::size_t resident_bytes() {
    std::size_t total = 0, resident = 0;
    if (std::FILE* f = std::fopen("/proc/self/statm", "r")) {
        if (std::fscanf(f, "%zu %zu", &total, &resident) != 2) resident = 0;
        std::fclose(f);
    }
    return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

// Loose on purpose: an endpoint's cap for unexpected data plus rings is tens of megabytes, a leak is gigabytes.
constexpr std::size_t memory_bound = std::size_t{512} << 20;
// So many refusals in a row, with both sides polled in between, mean that there is no room, not that it was late.
constexpr int firmly_refused = 2000;

// Sends messages of one size, each stamped with its number, until the sender is firmly refused; then receives all.
void flood(const conditions& c, family f, std::size_t size) {
    SCOPED_TRACE(std::string(name(f)) + ", messages of " + std::to_string(size) + " bytes");
    std::vector<std::byte> message(size), room(size);
    pair_of_endpoints p(c);
    const std::size_t memory_before = resident_bytes();
    const std::size_t limit = std::min(flood_messages_max, flood_bytes_max / size);
    std::uint64_t sent = 0;
    for (int refused = 0; sent < limit && refused < firmly_refused;) {
        std::memcpy(message.data(), &sent, sizeof sent);
        const status s = f == family::tagged ? p.a.ep.inject(view(message), p.a.other, tag{sent})
                                             : p.a.ep.inject(view(message), p.a.other);
        ASSERT_TRUE(s.ok() || s.again()) << s.text();
        if (s.ok()) {
            ++sent;
            refused = 0;
        } else {
            ++refused;
            p.poll();
        }
    }
    EXPECT_GT(sent, 0u);
    // Sanitized floods of the smallest messages are cut short before the receiver's room is used up.
    if (!sanitized || size > 8) {
        EXPECT_LT(sent, limit) << "nobody receives, yet the sender was never told to wait";
    }
    EXPECT_LT(resident_bytes(), memory_before + memory_bound);
    for (std::uint64_t i = 0; i < sent; ++i) {
        const completion r = p.wait_ok(p.recv(p.b, buffer{room.data(), size}, f, tag{i}));
        std::uint64_t number = 0;
        std::memcpy(&number, room.data(), sizeof number);
        ASSERT_EQ(number, i) << "of " << sent;
        ASSERT_EQ(r.size, size);
    }
    // And the way is free again.
    p.inject(p.a, view(message), f, tag{1});
    p.wait_ok(p.recv(p.b, buffer{room.data(), size}, f, tag{1}));
}

TEST_P(flow, flood_of_small_unexpected_messages) {
    for (family f : families) flood(GetParam(), f, 8);
}

TEST_P(flow, flood_of_buffered_unexpected_messages) {
    const offer limits = open_domain(GetParam()).what();
    for (family f : families) flood(GetParam(), f, std::min<std::size_t>(limits.inject_size_max, limits.eager_max));
}

TEST_P(flow, flood_of_large_unexpected_messages) {
    std::vector<std::byte> message, room;
    options o;
    o.queue.depth = 1u << 16;
    pair_of_endpoints p(GetParam(), o);
    const std::size_t size = std::min<std::size_t>(p.limits().eager_max + 1000, p.limits().message_size_max);
    message = pattern(size, 5);
    room.resize(size);
    const std::size_t memory_before = resident_bytes();
    std::vector<token> sends;
    for (int refused = 0; sends.size() < 20'000 && refused < firmly_refused;) {
        if (auto t = p.attempt("large send",
                               [&](token u) { return p.a.ep.send(view(message), p.a.other, tag{sends.size()}, u); })) {
            sends.push_back(*t);
            refused = 0;
        } else {
            ++refused;
            p.poll();
        }
    }
    EXPECT_GT(sends.size(), 0u);
    EXPECT_LT(resident_bytes(), memory_before + memory_bound);
    for (std::size_t i = 0; i < sends.size(); ++i) {
        ASSERT_EQ(p.wait_ok(p.recv(p.b, buffer{room.data(), size}, family::tagged, tag{i})).size, size);
        if (i % 16 == 0) {
            ASSERT_TRUE(holds(room, 5));
        }
        p.wait_ok(sends[i]);
    }
}

// Nobody polls: posting must be answered with try_again before the queue's depth is far exceeded, and what was
// accepted is all there, however little room each poll has.
TEST_P(flow, full_completion_queue_of_sends) {
    std::vector<std::uint64_t> rooms(70'000, ~std::uint64_t{0});
    options o;
    o.queue.depth = 16;
    pair_of_endpoints p(GetParam(), o);
    if (p.is_self()) GTEST_SKIP() << "needs a receiver that is polled while the sender is not";
    const std::uint64_t first = 0;
    p.inject(p.a, bytes_of(first), family::untagged);
    p.wait_ok(p.recv(p.b, bytes_of(rooms[0]), family::untagged));  // contact is made

    std::vector<std::uint64_t> numbers;
    numbers.reserve(rooms.size());
    std::vector<token> sends;
    const auto receive_at_b = [&](std::uint64_t& room) {  // `recv` would poll the other side, too
        for (deadline end; !end.passed(); p.poll(p.b))
            if (p.attempt("receive", [&](token u) { return p.b.ep.recv(bytes_of(room), tag{1}, u); })) return;
        throw test_failure("a receive was refused although its queue is polled");
    };
    int refused = 0;
    while (numbers.size() + 1 < rooms.size() && refused < firmly_refused) {
        numbers.push_back(numbers.size());
        const auto t =
            p.attempt("send", [&](token u) { return p.a.ep.send(bytes_of(numbers.back()), p.a.other, tag{1}, u); });
        refused = t ? 0 : refused + 1;
        if (!t) numbers.pop_back();
        if (t) {
            sends.push_back(*t);
            receive_at_b(rooms[sends.size() - 1]);
        }
        p.poll(p.b);
    }
    EXPECT_GE(sends.size(), 1u);
    EXPECT_EQ(refused, firmly_refused) << "sends were accepted without end although nobody polled";
    // Room for one entry at a time.
    p.until(
        [&] {
            p.poll(p.a, 1);
            p.poll(p.b, 1);
            return p.book.pending() == 0;
        },
        "all completions");
    for (std::size_t i = 0; i < sends.size(); ++i) ASSERT_EQ(rooms[i], i);
    // Once polled, posting goes on.
    const token more = p.recv(p.b, bytes_of(rooms[0]), family::tagged, tag{2});
    const token again = p.send(p.a, bytes_of(first), family::tagged, tag{2});
    p.wait_ok(more);
    p.wait_ok(again);
}

// Receives that match what has already arrived end at once; they, too, need room in the queue.
TEST_P(flow, full_completion_queue_of_receives) {
    constexpr std::size_t count = 500;
    std::vector<std::uint64_t> rooms(count, ~std::uint64_t{0});
    options o;
    o.queue.depth = 16;
    pair_of_endpoints p(GetParam(), o);
    for (std::uint64_t i = 0; i < count; ++i) p.inject(p.a, bytes_of(i), family::tagged, tag{1});
    p.settle();
    std::vector<token> receives;
    std::size_t held_back = 0;
    while (receives.size() < count) {
        const auto t =
            p.attempt("receive", [&](token u) { return p.b.ep.recv(bytes_of(rooms[receives.size()]), tag{1}, u); });
        if (t) {
            receives.push_back(*t);
            continue;
        }
        ++held_back;
        ASSERT_GT(p.poll(p.b, 1) + receives.size(), 0u);
        ASSERT_LT(held_back, 1'000'000u) << "receives are refused although the queue is polled";
    }
    p.wait_all();
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(rooms[i], i);
}

// Messages keep arriving at a queue nobody reads; the receives' entries wait or the sender does, none is dropped.
TEST_P(flow, arrivals_into_a_full_queue) {
    constexpr std::size_t count = 1000;
    std::vector<std::uint64_t> rooms(count, ~std::uint64_t{0});
    options o;
    o.queue.depth = 16;
    pair_of_endpoints p(GetParam(), o);
    std::vector<token> receives;
    std::uint64_t sent = 0;
    p.until(
        [&] {
            while (receives.size() < count) {
                const auto t = p.attempt(
                    "receive", [&](token u) { return p.b.ep.recv(bytes_of(rooms[receives.size()]), tag{1}, u); });
                if (!t) break;
                receives.push_back(*t);
            }
            while (sent < count) {
                const status s = p.a.ep.inject(bytes_of(sent), p.a.other, tag{1});
                if (s.again()) break;
                if (!s.ok()) throw test_failure(std::string("inject was refused: ") + s.text());
                ++sent;
            }
            // Progress without taking anything: an empty room.
            for (int i = 0; i < 20; ++i) p.b.queue.poll({});
            p.poll(p.b, 1);
            return sent == count && receives.size() == count && p.book.pending() == 0;
        },
        "all messages to arrive");
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(rooms[i], i);
}

TEST_P(flow, as_many_posted_receives_as_promised) {
    std::vector<std::uint64_t> rooms;
    options o;
    o.want.posted_receives_min = 3000;
    o.queue.depth = 1u << 16;
    pair_of_endpoints p(GetParam(), o);
    const std::uint64_t promised = o.want.posted_receives_min, most = p.limits().posted_receives_max;
    ASSERT_GE(most, promised);
    const std::size_t tries = std::min<std::uint64_t>(most + 1, 50'000);
    rooms.assign(tries, ~std::uint64_t{0});
    std::vector<token> receives;
    for (std::size_t i = 0; i < tries; ++i) {
        const auto t = p.attempt("receive", [&](token u) { return p.b.ep.recv(bytes_of(rooms[i]), tag{i}, u); });
        if (!t) break;
        receives.push_back(*t);
    }
    EXPECT_GE(receives.size(), promised) << "refused although posted_receives_min asked for more";
    if (tries == most + 1) {
        EXPECT_LT(receives.size(), tries) << "accepted more than posted_receives_max";
    }
    // Each of them still works, the last one first.
    for (std::uint64_t i : {receives.size() - 1, receives.size() / 2, std::size_t{0}}) {
        p.inject(p.a, bytes_of(i), family::tagged, tag{i});
        p.wait_ok(receives[i]);
        EXPECT_EQ(rooms[i], i);
    }
    p.finish();
}

}  // namespace
}  // namespace weft::conformance
