// The three entry formats, and endpoints of fewer abilities.
#include "support.hpp"

#include <algorithm>

namespace weft::conformance {
namespace {

WEFT_SUITE(formats, one_per_threading());

// Sends one message of each protocol with remote data, and a failure, through queues of the given format.
template <class Entry>
std::vector<completion> exchange(const conditions& c) {
    std::vector<std::vector<std::byte>> memory;
    const domain home_a = open_domain(c);
    domain a_home = home_a, b_home = open_domain(c);
    auto queue_a = a_home.open_queue<Entry>().value();
    auto queue_b = b_home.open_queue<Entry>().value();
    const needs want = needs_for(c, {});
    auto a = a_home.open<messages>(want, queue_a).value();
    auto b = b_home.open<messages>(want, queue_b).value();
    const peer to_b = a_home.resolve(b.address_text()).value();
    std::vector<completion> received;
    std::uint64_t number = 0;
    for (std::size_t size : one_size_per_protocol(a_home.what()))
        for (bool short_room : {false, true}) {
            const auto sent = pattern(size, size);
            memory.emplace_back(size);
            const std::size_t room = short_room ? size / 2 : size;
            EXPECT_TRUE(b.recv(buffer{memory.back().data(), room}, tag{0xab}, token{100 + number}).ok());
            status s = errc::try_again;
            bool sent_ended = false, received_ended = false;
            Entry entries[4];
            for (deadline end; !(sent_ended && received_ended);) {
                if (s.again()) s = a.send(view(sent), to_b, tag{0xab}, token{200 + number}, remote_data{300 + number});
                for (const Entry& e : queue_a.poll(entries)) {
                    EXPECT_EQ(e.context, token{200 + number});
                    EXPECT_EQ(e.what, op::send);
                    EXPECT_TRUE(e.outcome.ok());
                    sent_ended = true;
                }
                for (const Entry& e : queue_b.poll(entries)) {
                    EXPECT_EQ(e.context, token{100 + number});
                    EXPECT_EQ(e.what, op::recv);
                    EXPECT_EQ(e.outcome.code(), short_room ? errc::truncated : errc::ok);
                    EXPECT_NE(e.flags & entry::has_data, 0);
                    received.push_back(general(e));
                    received_ended = true;
                }
                if (end.passed()) throw test_failure("an exchange of " + std::to_string(size) + " bytes did not end");
            }
            if (!short_room) {
                EXPECT_TRUE(holds(memory.back(), size));
            }
            ++number;
        }
    return received;
}

TEST_P(formats, tokens) { EXPECT_EQ(exchange<entry::tokens>(GetParam()).size(), 6u); }

TEST_P(formats, message) {
    const auto sizes = one_size_per_protocol(open_domain(GetParam()).what());
    const auto received = exchange<entry::message>(GetParam());
    ASSERT_EQ(received.size(), 6u);
    for (std::size_t i = 0; i < received.size(); ++i) {
        EXPECT_EQ(received[i].size, i % 2 == 0 ? sizes[i / 2] : sizes[i / 2] / 2);
        EXPECT_EQ(received[i].data, remote_data{300 + i});
        EXPECT_NE(received[i].source, any_peer);
        EXPECT_EQ(received[i].source, received[0].source);
    }
}

TEST_P(formats, tagged) {
    const auto received = exchange<entry::tagged>(GetParam());
    ASSERT_EQ(received.size(), 6u);
    for (std::size_t i = 0; i < received.size(); ++i) {
        EXPECT_EQ(received[i].tag, tag{0xab});
        EXPECT_EQ(received[i].data, remote_data{300 + i});
    }
}

// Endpoints that were opened with one ability only work with those that have both.
TEST_P(formats, one_ability_alone) {
    const conditions& c = GetParam();
    domain home = open_domain(c);
    const needs want = needs_for(c, {});
    auto queue_tagged = home.open_queue<entry::tagged>().value();
    auto queue_msg = home.open_queue<entry::message>().value();
    auto tagged_only = home.open<caps::tagged>(want, queue_tagged).value();
    auto msg_only = home.open<caps::msg>(want, queue_msg).value();
    std::uint64_t room = 0, other_room = 0;
    side both(c, open_domain(c));
    harness h(c.provider);
    h.attend(both);
    const peer to_tagged = both.home->resolve(tagged_only.address_text()).value();
    const peer to_msg = both.home->resolve(msg_only.address_text()).value();

    const std::uint64_t first = 11, second = 22;
    ASSERT_TRUE(tagged_only.recv(bytes_of(room), tag{1}, token{1}).ok());
    ASSERT_TRUE(msg_only.recv(bytes_of(other_room), token{2}).ok());
    int arrived = 0;
    entry::tagged tagged_entries[2];
    entry::message message_entries[2];
    const auto poll_all = [&] {
        for (const auto& e : queue_tagged.poll(tagged_entries)) {
            EXPECT_EQ(e.context, token{1});
            EXPECT_TRUE(e.outcome.ok());
            ++arrived;
        }
        for (const auto& e : queue_msg.poll(message_entries)) {
            EXPECT_EQ(e.context, token{2});
            EXPECT_TRUE(e.outcome.ok());
            ++arrived;
        }
    };
    status one = errc::try_again, two = errc::try_again;
    h.until(
        [&] {
            poll_all();
            if (one.again()) one = both.ep.inject(bytes_of(first), to_tagged, tag{1});
            if (two.again()) two = both.ep.inject(bytes_of(second), to_msg);
            return arrived == 2;
        },
        "both messages");
    EXPECT_TRUE(one.ok() && two.ok());
    EXPECT_EQ(room, first);
    EXPECT_EQ(other_room, second);
}

// Room for the entries: polling with less room than there are entries keeps the rest, in order.
TEST_P(formats, small_room_keeps_the_order) {
    std::vector<std::uint64_t> rooms(100);
    pair_of_endpoints p(GetParam());
    std::vector<token> receives;
    for (auto& room : rooms) receives.push_back(p.recv(p.b, bytes_of(room), family::untagged));
    for (std::uint64_t i = 0; i < rooms.size(); ++i) p.inject(p.a, bytes_of(i), family::untagged);
    std::vector<token> order;
    deadline end;
    for (std::size_t room = 1; p.book.pending() != 0; room = room % 3 + 1) {
        ASSERT_FALSE(end.passed());
        entry::tagged entries[3];
        p.poll(p.a);
        for (const auto& e : p.b.queue.poll(std::span(entries).first(room))) {
            p.book.take(general(e));
            order.push_back(e.context);
        }
    }
    // `inject` above polls, too, so the first few may have been taken before; what is left is in order.
    ASSERT_FALSE(order.empty());
    const auto start = std::find(receives.begin(), receives.end(), order.front());
    EXPECT_TRUE(std::equal(order.begin(), order.end(), start, receives.end()));
}

}  // namespace
}  // namespace weft::conformance
