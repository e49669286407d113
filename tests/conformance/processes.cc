// Two processes: ping-pong, large transfers, messages that were sent just before the end.
#include <unistd.h>

#include <algorithm>

#include "process.hpp"
#include "support.hpp"

namespace weft::conformance {
namespace {

WEFT_SUITE(processes, one_per_threading());

// The other side of most tests here: opens an endpoint, tells its address, hears ours, and runs `body`.
void as_partner(const conditions& c, wire_to_other& line, const std::function<void(harness&, side&)>& body) {
    side me(c, open_domain(c));
    harness h(c.provider);
    h.attend(me);
    line.say(me.ep.address_text());
    me.other = me.home->resolve(line.hear()).value();
    body(h, me);
    // The other process may still need this one's progress; it says when it does not.
    line.say("done");
    h.until([&] { return line.something_to_hear(); }, "the other process to be done");
    h.finish();
}

void with_partner(const conditions& c, other_process& other, const std::function<void(harness&, side&)>& body) {
    side me(c, open_domain(c));
    harness h(c.provider);
    h.attend(me);
    me.other = me.home->resolve(other.line().hear()).value();
    other.line().say(me.ep.address_text());
    body(h, me);
    h.until([&] { return other.line().something_to_hear(); }, "the other process to be done");
    EXPECT_EQ(other.line().hear(), "done");
    other.line().say("done");
    h.finish();
}

// Runs one body in each process; the bool says whether this is the child. Nothing is left behind.
void in_two_processes(const conditions& c, const std::function<void(harness&, side&, bool)>& body) {
    const belongings before = belongings::now();
    {
        other_process other(
            [&](wire_to_other& line) { as_partner(c, line, [&](harness& h, side& me) { body(h, me, true); }); });
        with_partner(c, other, [&](harness& h, side& me) { body(h, me, false); });
        EXPECT_EQ(other.wait(), 0) << "the other process failed, its words are above";
    }
    EXPECT_EQ(before.left_since(), "");
}

TEST_P(processes, ping_pong) {
    constexpr std::uint64_t rounds = sanitized ? 300 : 3000;
    in_two_processes(GetParam(), [](harness& h, side& me, bool child) {
        for (std::uint64_t i = 0; i < rounds; ++i) {
            std::uint64_t room = ~i;
            if (child) h.inject(me, bytes_of(i), family::tagged, tag{i});
            h.wait_ok(h.recv(me, bytes_of(room), family::tagged, tag{i}));
            if (room != i) throw test_failure("round " + std::to_string(i) + " brought " + std::to_string(room));
            if (!child) h.inject(me, bytes_of(i), family::tagged, tag{i});
        }
    });
}

TEST_P(processes, every_size_in_both_directions) {
    in_two_processes(GetParam(), [](harness& h, side& me, bool child) {
        std::uint64_t seed = 1;
        for (family f : families)
            for (std::size_t size : interesting_sizes(me.home->what())) {
                const std::uint64_t mine = seed + (child ? 1 : 0), theirs = seed + (child ? 0 : 1);
                seed += 2;
                const auto sent = pattern(size, mine);
                guarded_buffer room(size);
                const token s = h.send(me, view(sent), f, tag{size});
                const token r = h.recv(me, room.view(), f, tag{size});
                const completion e = h.wait_ok(r);
                if (e.size != size || e.source != me.other) throw test_failure("wrong size or source in an entry");
                if (const auto right = holds(room.first(size), theirs); !right) throw test_failure(right.message());
                if (const auto right = room.untouched_beyond(size); !right) throw test_failure(right.message());
                h.wait_ok(s);
            }
    });
}

// Large messages back to back, several in flight, contents verified on both sides.
TEST_P(processes, stream_of_large_messages) {
    constexpr std::size_t count = sanitized ? 12 : 64, window = 4;
    in_two_processes(GetParam(), [](harness& h, side& me, bool child) {
        const std::size_t size = std::min<std::size_t>(largest_message, me.home->what().message_size_max) - 3;
        std::vector<std::vector<std::byte>> memory(window, std::vector<std::byte>(size));
        std::vector<token> pending(window);
        for (std::uint64_t i = 0; i < count + window; ++i) {
            auto& slot = memory[i % window];
            if (i >= window) {
                const completion e = h.wait_ok(pending[i % window]);
                if (!child)
                    if (const auto right = holds(std::span(slot).first(e.size), i - window); !right)
                        throw test_failure("message " + std::to_string(i - window) + ": " + right.message());
            }
            if (i >= count) continue;
            if (child) fill(slot, i);
            pending[i % window] = child ? h.send(me, view(slot), family::untagged)
                                        : h.recv(me, buffer{slot.data(), size}, family::untagged);
        }
    });
}

// The receiver does not poll for a while: the sender is told to wait, and then all of it arrives.
TEST_P(processes, a_receiver_that_is_late) {
    constexpr std::uint64_t count = sanitized ? 5'000 : 50'000;
    const conditions& c = GetParam();
    other_process other([&](wire_to_other& line) {
        as_partner(c, line, [&](harness& h, side& me) {
            line.hear();  // not polling meanwhile
            for (std::uint64_t i = 0; i < count; ++i) {
                std::uint64_t room = ~i;
                h.wait_ok(h.recv(me, bytes_of(room), family::untagged));
                if (room != i) throw test_failure("message " + std::to_string(i) + " is " + std::to_string(room));
            }
        });
    });
    with_partner(c, other, [&](harness& h, side& me) {
        std::uint64_t sent = 0;
        for (int refused = 0; sent < count && refused < 5000; h.poll()) {
            const status s = me.ep.inject(bytes_of(sent), me.other);
            ASSERT_TRUE(s.ok() || s.again()) << s.text();
            sent += s.ok() ? 1u : 0u;
            refused = s.ok() ? 0 : refused + 1;
        }
        other.line().say("go");
        for (; sent < count; ++sent) h.inject(me, bytes_of(sent), family::untagged);
    });
    EXPECT_EQ(other.wait(), 0);
}

// The child ends without closing anything, as programs do that call _exit: the parent hears of it.
TEST_P(processes, a_partner_that_exits_without_closing) {
    const conditions& c = GetParam();
    const belongings before = belongings::now();
    {
        other_process other([&](wire_to_other& line) {
            side me(c, open_domain(c));
            harness h(c.provider);
            h.attend(me);
            line.say(me.ep.address_text());
            std::uint64_t room = 0;
            h.wait_ok(h.recv(me, bytes_of(room), family::tagged, tag{1}));
            ::_exit(7);
        });
        std::byte room[8];
        side me(c, open_domain(c));
        harness h(c.provider);
        h.attend(me);
        me.other = me.home->resolve(other.line().hear()).value();
        const token directed = h.recv(me, buffer{room, 8}, family::tagged, tag{2}, match_exactly, me.other);
        const std::uint64_t number = 1;
        h.inject(me, bytes_of(number), family::tagged, tag{1});
        EXPECT_EQ(h.wait(directed).outcome.code(), errc::peer_gone);
        EXPECT_EQ(other.wait(), 7);
        EXPECT_EQ(me.ep.inject(bytes_of(number), me.other, tag{1}).code(), errc::peer_gone);
    }
    EXPECT_EQ(before.left_since(), "");
}

}  // namespace
}  // namespace weft::conformance
