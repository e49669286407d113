// More than two: many endpoints on one queue, all-to-all, several queues and fabrics in one process.
#include "support.hpp"

#include <algorithm>

namespace weft::conformance {
namespace {

WEFT_SUITE(topology, one_per_threading());

constexpr std::size_t many = sanitized ? 12 : 24;

// One message from everybody to everybody (themselves included), tagged with sender and size class.
void all_to_all(const conditions& c, std::size_t count, bool own_domains) {
    const domain shared = open_domain(c);
    std::vector<std::unique_ptr<side>> sides;
    for (std::size_t i = 0; i < count; ++i)
        sides.push_back(std::make_unique<side>(c, own_domains ? open_domain(c) : shared));
    const auto sizes = one_size_per_protocol(shared.what());
    std::vector<std::vector<std::byte>> sent;
    std::vector<guarded_buffer> rooms;
    harness h(c.provider);
    for (auto& s : sides) h.attend(*s);
    std::vector<token> receives;
    for (std::size_t to = 0; to < count; ++to)
        for (std::size_t from = 0; from < count; ++from)
            for (std::size_t i = 0; i < sizes.size(); ++i) {
                rooms.emplace_back(sizes[i]);
                receives.push_back(h.recv(*sides[to], rooms.back().view(), family::tagged, tag{from << 8 | i}));
            }
    for (std::size_t to = 0; to < count; ++to)
        for (std::size_t from = 0; from < count; ++from) {
            sides[from]->other = sides[from]->home->resolve(sides[to]->ep.address_text()).value();
            for (std::size_t i = 0; i < sizes.size(); ++i) {
                sent.push_back(pattern(sizes[i], (to * count + from) * 10 + i));
                h.send(*sides[from], view(sent.back()), family::tagged, tag{from << 8 | i});
            }
        }
    h.wait_all();
    std::size_t at = 0;
    for (std::size_t to = 0; to < count; ++to)
        for (std::size_t from = 0; from < count; ++from) {
            const peer source = sides[to]->home->resolve(sides[from]->ep.address_text()).value();
            for (std::size_t i = 0; i < sizes.size(); ++i, ++at) {
                const completion e = h.book.of(receives[at]);
                ASSERT_TRUE(e.outcome.ok()) << from << " to " << to << ": " << e.outcome.text();
                ASSERT_EQ(e.source, source) << from << " to " << to;
                ASSERT_TRUE(holds(rooms[at].first(sizes[i]), (to * count + from) * 10 + i)) << from << " to " << to;
            }
        }
}

TEST_P(topology, all_to_all_in_one_domain) { all_to_all(GetParam(), 8, false); }
TEST_P(topology, all_to_all_over_domains) { all_to_all(GetParam(), 6, true); }

TEST_P(topology, many_endpoints_on_one_queue) {
    const conditions& c = GetParam();
    options o;
    std::vector<std::uint64_t> rooms(many, 0);
    side hub(c, open_domain(c)), sink(c, open_domain(c));
    std::vector<endpoint<messages>> others;
    for (std::size_t i = 0; i < many; ++i)
        others.push_back(sink.home->open<messages>(needs_for(c, o.want), sink.queue).value());
    harness h(c.provider);
    h.attend(hub);
    h.attend(sink);
    // Everybody has the same tag posted; the address alone decides who gets what.
    std::vector<token> receives;
    for (std::size_t i = 0; i < many; ++i)
        receives.push_back(h.post("receive", [&](token t) { return others[i].recv(bytes_of(rooms[i]), tag{1}, t); }));
    for (std::uint64_t i = 0; i < many; ++i) {
        hub.other = hub.home->resolve(others[i].address_text()).value();
        h.inject(hub, bytes_of(i), family::tagged, tag{1});
    }
    for (std::size_t i = 0; i < many; ++i) {
        h.wait_ok(receives[i]);
        EXPECT_EQ(rooms[i], i);
    }
    // And back: all answer to one endpoint.
    std::vector<std::uint64_t> answers(many);
    for (auto& answer : answers) h.recv(hub, bytes_of(answer), family::untagged);
    const peer to_hub = sink.home->resolve(hub.ep.address_text()).value();
    for (std::uint64_t i = 0; i < many; ++i) h.insist("inject", [&] { return others[i].inject(bytes_of(i), to_hub); });
    h.wait_all();
    std::sort(answers.begin(), answers.end());
    for (std::uint64_t i = 0; i < many; ++i) EXPECT_EQ(answers[i], i);
    // Closing one does not disturb the rest.
    const token lost = h.post("receive", [&](token t) { return others[0].recv(bytes_of(rooms[0]), tag{2}, t); });
    const token kept = h.post("receive", [&](token t) { return others[1].recv(bytes_of(rooms[1]), tag{2}, t); });
    EXPECT_TRUE(others[0].close().ok());
    EXPECT_EQ(h.wait(lost).outcome.code(), errc::canceled);
    hub.other = hub.home->resolve(others[1].address_text()).value();
    const std::uint64_t number = 99;
    h.inject(hub, bytes_of(number), family::tagged, tag{2});
    h.wait_ok(kept);
    EXPECT_EQ(rooms[1], 99u);
}

TEST_P(topology, addresses_are_distinct_and_resolve_to_distinct_peers) {
    const conditions& c = GetParam();
    domain home = open_domain(c), looking = open_domain(c);
    auto queue = home.open_queue<entry::tagged>().value();
    std::vector<endpoint<messages>> endpoints;
    std::vector<std::string> texts;
    std::vector<peer> peers;
    for (std::size_t i = 0; i < many; ++i) {
        endpoints.push_back(home.open<messages>(needs_for(c, {}), queue).value());
        texts.push_back(endpoints.back().address_text());
        peers.push_back(looking.resolve(texts.back()).value());
        EXPECT_EQ(texts.back().substr(0, c.provider.size() + 3), c.provider + "://");
        EXPECT_EQ(endpoints.back().address_text(), texts.back()) << "an address is constant";
        const address bytes = endpoints.back().address();
        EXPECT_GT(bytes.size, 0u);
        EXPECT_LE(bytes.size, address::capacity);
        EXPECT_EQ(looking.insert(bytes.view()).value(), peers.back()) << "bytes and text name the same peer";
    }
    for (std::size_t i = 0; i < many; ++i) {
        EXPECT_EQ(looking.resolve(texts[i]).value(), peers[i]);
        EXPECT_EQ(looking.text_of(peers[i]), texts[i]);
        for (std::size_t j = 0; j < i; ++j) {
            EXPECT_NE(texts[i], texts[j]);
            EXPECT_NE(peers[i], peers[j]);
        }
    }
}

// A new endpoint after an old one was closed is somebody else, also under churn.
TEST_P(topology, endpoints_come_and_go) {
    const conditions& c = GetParam();
    side server(c, open_domain(c));
    harness h(c.provider);
    h.attend(server);
    std::vector<std::string> seen;
    for (std::uint64_t i = 0; i < (sanitized ? 30 : 150); ++i) {
        std::uint64_t room = 0, answer = 0;
        side client(c, open_domain(c));
        harness short_lived(c.provider);
        short_lived.attend(client);
        short_lived.attend(server);
        client.other = client.home->resolve(server.ep.address_text()).value();
        seen.push_back(client.ep.address_text());
        ASSERT_EQ(std::count(seen.begin(), seen.end(), seen.back()), 1) << "an address was used twice";
        // The ledger of this round serves both sides: the server has nothing pending in between.
        const token question = short_lived.recv(server, bytes_of(room), family::tagged, tag{1});
        short_lived.inject(client, bytes_of(i), family::tagged, tag{1});
        server.other = short_lived.wait_ok(question).source;
        const token reply = short_lived.recv(client, bytes_of(answer), family::tagged, tag{2});
        short_lived.inject(server, bytes_of(i), family::tagged, tag{2});
        short_lived.wait_ok(reply);
        ASSERT_EQ(room, i);
        ASSERT_EQ(answer, i);
        EXPECT_TRUE(client.ep.close().ok());
        short_lived.settle(4);
        short_lived.leave();
    }
}

TEST_P(topology, path_tells_how_a_peer_is_reached) {
    pair_of_endpoints p(GetParam());
    std::byte room[8];
    const auto sent = pattern(8, 1);
    const path_info before = p.a.ep.path(p.a.other).value();
    EXPECT_EQ(before.local, p.a.ep.address_text());
    EXPECT_EQ(before.remote, p.b.ep.address_text());
    EXPECT_TRUE(before.state == "idle" || before.state == "connecting" || before.state == "connected") << before.state;
    const token r = p.recv(p.b, buffer{room, 8}, family::tagged);
    p.send_quiet(p.a, view(sent), family::tagged);
    p.wait_ok(r);
    const path_info after = p.a.ep.path(p.a.other).value();
    EXPECT_EQ(after.state, "connected");
    EXPECT_FALSE(after.mechanism.empty());
    EXPECT_GT(after.inline_max, 0u);
    EXPECT_GE(after.eager_max, after.inline_max);
    EXPECT_FALSE(p.a.ep.path(peer{123'456'789}).has_value());
}

}  // namespace
}  // namespace weft::conformance
