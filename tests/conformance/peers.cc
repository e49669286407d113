// Peers that are not there, or not any more: every operation ends once, in bounded time, and others are not disturbed.
#include "support.hpp"

#include <algorithm>

namespace weft::conformance {
namespace {

WEFT_SUITE(peers, every_pair());

// How a send to somebody who may be gone ends: at the call, or by completion.
errc fate_of_send(pair_of_endpoints& p, const_buffer bytes) {
    const token t = p.book.open("send to a peer that is not there");
    status answer;
    p.until(
        [&] {
            answer = p.a.ep.send(bytes, p.a.other, tag{1}, t);
            return !answer.again();
        },
        "an answer other than try_again");
    if (answer.ok()) return p.wait(t).outcome.code();
    p.book.retract(t);
    return answer.code();
}

TEST_P(peers, an_address_where_nobody_is_any_more) {
    std::vector<std::byte> bytes;
    pair_of_endpoints p(GetParam());
    for (std::size_t size : one_size_per_protocol(p.limits())) {
        side gone(GetParam(), *p.b.home);
        const std::string address = gone.ep.address_text();
        ASSERT_TRUE(gone.ep.close().ok());
        gone.ep = {};
        p.a.other = p.a.home->resolve(address).value();  // resolving contacts nobody
        bytes = pattern(size, 1);
        for (int i = 0; i < 3; ++i) {
            const errc fate = fate_of_send(p, view(bytes));
            EXPECT_TRUE(fate == errc::peer_unreachable || fate == errc::peer_gone) << name(fate);
        }
        // The same without a completion: the failure shows at the call or with a null token.
        bool failed = false;
        p.until(
            [&] {
                const status s = p.a.ep.send(view(bytes), p.a.other, tag{1}, quiet);
                failed = failed || s.code() == errc::peer_unreachable || s.code() == errc::peer_gone;
                for (const completion& c : p.book.take_quiet_failures())
                    failed =
                        failed || c.outcome.code() == errc::peer_unreachable || c.outcome.code() == errc::peer_gone;
                return failed;
            },
            "a quiet send to nobody to fail");
        p.settle();
        p.book.take_quiet_failures();
    }
    // Somebody who is there is reached as ever.
    p.a.other = p.a.home->resolve(p.b.ep.address_text()).value();
    std::byte room[8];
    const auto sent = pattern(8, 1);
    const token r = p.recv(p.b, buffer{room, 8}, family::tagged, tag{9});
    p.send_quiet(p.a, view(sent), family::tagged, tag{9});
    p.wait_ok(r);
}

void make_contact(pair_of_endpoints& p) {
    std::byte there[8], back[8];
    const auto sent = pattern(8, 1);
    const token r1 = p.recv(p.b, buffer{there, 8}, family::tagged, tag{77});
    p.send_quiet(p.a, view(sent), family::tagged, tag{77});
    p.wait_ok(r1);
    const token r2 = p.recv(p.a, buffer{back, 8}, family::tagged, tag{78});
    p.send_quiet(p.b, view(sent), family::tagged, tag{78});
    p.wait_ok(r2);
}

TEST_P(peers, rendezvous_to_a_peer_that_closes) {
    std::vector<std::byte> large;
    pair_of_endpoints p(GetParam());
    make_contact(p);
    large = pattern(std::min<std::size_t>(p.limits().eager_max * 3, p.limits().message_size_max), 1);
    std::vector<token> sends;
    for (std::uint64_t i = 0; i < 10; ++i) sends.push_back(p.send(p.a, view(large), family::tagged, tag{i}));
    p.settle(50);
    for (token t : sends) ASSERT_FALSE(p.book.ended(t)) << "a large send ended before anybody received it";
    ASSERT_TRUE(p.b.ep.close().ok());
    for (token t : sends) EXPECT_EQ(p.wait(t).outcome.code(), errc::peer_gone);
    // Final: later ones fail at the call.
    EXPECT_EQ(p.a.ep.send(view(large), p.a.other, tag{1}, token{1}).code(), errc::peer_gone);
    EXPECT_EQ(p.a.ep.inject(const_buffer{large.data(), 8}, p.a.other).code(), errc::peer_gone);
    const auto path = p.a.ep.path(p.a.other);
    if (path) {
        EXPECT_EQ(path->state, "gone");
    }
    p.settle();
}

TEST_P(peers, directed_receives_from_a_peer_that_closes) {
    std::byte rooms[4][8];
    pair_of_endpoints p(GetParam());
    make_contact(p);
    const token tagged = p.recv(p.a, buffer{rooms[0], 8}, family::tagged, tag{5}, match_exactly, p.a.other);
    const token wild = p.recv(p.a, buffer{rooms[1], 8}, family::tagged, tag{0}, match_anything, p.a.other);
    const token untagged = p.recv(p.a, buffer{rooms[2], 8}, family::untagged, {}, match_exactly, p.a.other);
    const token from_anybody = p.recv(p.a, buffer{rooms[3], 8}, family::tagged, tag{5});
    ASSERT_TRUE(p.b.ep.close().ok());
    for (token t : {tagged, wild, untagged}) EXPECT_EQ(p.wait(t).outcome.code(), errc::peer_gone);
    p.settle();
    EXPECT_FALSE(p.book.ended(from_anybody)) << "somebody else may still send to it";
    // Somebody else does.
    side third(GetParam(), *p.b.home);
    p.attend(third);
    third.other = third.home->resolve(p.a.ep.address_text()).value();
    const auto sent = pattern(8, 3);
    p.send_quiet(third, view(sent), family::tagged, tag{5});
    p.wait_ok(from_anybody);
    EXPECT_TRUE(holds(rooms[3], 3));
    p.finish();
}

// The receive is matched to a large message whose sender closes before all of it has come.
TEST_P(peers, a_receive_matched_to_a_sender_that_closes) {
    std::vector<std::byte> large, room;
    pair_of_endpoints p(GetParam());
    make_contact(p);
    large = pattern(std::min<std::size_t>(largest_message, p.limits().message_size_max), 1);
    room.resize(large.size());
    for (int polls = 0; polls < 8; ++polls) {
        SCOPED_TRACE("the receiver polls " + std::to_string(polls) + " times before the sender closes");
        side sender(GetParam(), *p.a.home);
        harness h(GetParam().provider);
        h.attend(sender);
        h.attend(p.b);
        sender.other = sender.home->resolve(p.b.ep.address_text()).value();
        const token r = h.recv(p.b, buffer{room.data(), room.size()}, family::tagged, tag{1});
        const token s = h.send(sender, view(large), family::tagged, tag{1});
        for (int i = 0; i < polls; ++i) h.poll(p.b);
        ASSERT_TRUE(sender.ep.close().ok());
        const errc at_sender = h.wait(s).outcome.code();
        EXPECT_TRUE(at_sender == errc::canceled || at_sender == errc::ok) << name(at_sender);
        // Either the message had been announced, and then the receive shares its fate; or it is still open.
        h.settle();
        if (p.b.ep.cancel(r).ok()) {
            EXPECT_EQ(at_sender, errc::canceled);
            EXPECT_EQ(h.wait(r).outcome.code(), errc::canceled);
        } else {
            const errc at_receiver = h.wait(r).outcome.code();
            EXPECT_TRUE(at_receiver == errc::peer_gone || at_receiver == errc::ok) << name(at_receiver);
            if (at_receiver == errc::ok) {
                EXPECT_TRUE(holds(room, 1));
            }
            if (at_sender == errc::ok) {
                EXPECT_EQ(at_receiver, errc::ok);
            }
        }
        h.leave();
    }
}

// An announced large message of a sender that has closed is not there any more, or ends its receive with an error;
// small ones that had arrived are still delivered.
TEST_P(peers, unexpected_messages_of_a_sender_that_closed) {
    std::vector<std::byte> large, small, room;
    pair_of_endpoints p(GetParam());
    make_contact(p);
    large = pattern(std::min<std::size_t>(p.limits().eager_max * 3, p.limits().message_size_max), 1);
    small = pattern(8, 2);
    room.resize(large.size());
    p.send_quiet(p.a, view(small), family::tagged, tag{1});
    const token s = p.send(p.a, view(large), family::tagged, tag{2});
    p.settle(50);
    ASSERT_TRUE(p.a.ep.close().ok());
    EXPECT_EQ(p.wait(s).outcome.code(), errc::canceled);
    p.settle(50);
    const token r1 = p.recv(p.b, buffer{room.data(), room.size()}, family::tagged, tag{1});
    EXPECT_EQ(p.wait_ok(r1).size, 8u);
    EXPECT_TRUE(holds(std::span(room).first(8), 2));
    const token r2 = p.recv(p.b, buffer{room.data(), room.size()}, family::tagged, tag{2});
    p.settle();
    const errc end = p.b.ep.cancel(r2).ok() ? errc::canceled : errc::peer_gone;
    EXPECT_EQ(p.wait(r2).outcome.code(), end);
    p.finish();
}

TEST_P(peers, one_closes_and_the_others_notice_nothing) {
    const conditions& c = GetParam();
    std::vector<std::byte> large;
    std::uint64_t room = 0;
    side hub(c, open_domain(c)), stays(c, open_domain(c)), leaves(c, open_domain(c));
    harness h(c.provider);
    for (side* s : {&hub, &stays, &leaves}) h.attend(*s);
    large = pattern(std::min<std::size_t>(hub.home->what().eager_max * 3, hub.home->what().message_size_max), 1);
    const peer to_stays = hub.home->resolve(stays.ep.address_text()).value();
    const peer to_leaves = hub.home->resolve(leaves.ep.address_text()).value();
    hub.other = to_leaves;
    const token lost = h.send(hub, view(large), family::tagged, tag{1});
    h.settle(50);
    hub.other = to_stays;
    for (std::uint64_t i = 0; i < 200; ++i) {
        if (i == 100) {
            ASSERT_TRUE(leaves.ep.close().ok());
        }
        const token r = h.recv(stays, bytes_of(room), family::tagged, tag{2});
        h.inject(hub, bytes_of(i), family::tagged, tag{2});
        h.wait_ok(r);
        ASSERT_EQ(room, i);
    }
    EXPECT_EQ(h.wait(lost).outcome.code(), errc::peer_gone);
}

}  // namespace
}  // namespace weft::conformance
