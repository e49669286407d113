// What is refused, with which code, and that set-up failures come with a sentence that names the cause.
#include "support.hpp"

#include <algorithm>

namespace weft::conformance {
namespace {

WEFT_SUITE(refused, every_condition());
WEFT_SUITE(set_up, one_per_threading());

TEST_P(refused, peers_that_were_never_given_out) {
    pair_of_endpoints p(GetParam());
    std::byte bytes[8]{};
    const const_buffer out{bytes, 8};
    const buffer in{bytes, 8};
    const std::vector<const_buffer> pieces{out};
    auto& ep = p.a.ep;
    for (peer unknown :
         {peer{p.a.other.value + 1000}, peer{~std::uint64_t{0} - 1}, peer{std::uint64_t{1} << 32}, any_peer}) {
        SCOPED_TRACE(unknown.value);
        EXPECT_EQ(ep.send(out, unknown, token{1}).code(), errc::invalid_argument);
        EXPECT_EQ(ep.send(out, unknown, quiet).code(), errc::invalid_argument);
        EXPECT_EQ(ep.send(pieces, unknown, token{1}).code(), errc::invalid_argument);
        EXPECT_EQ(ep.send(out, unknown, token{1}, remote_data{1}).code(), errc::invalid_argument);
        EXPECT_EQ(ep.inject(out, unknown).code(), errc::invalid_argument);
        EXPECT_EQ(ep.send(out, unknown, tag{1}, token{1}).code(), errc::invalid_argument);
        EXPECT_EQ(ep.send(out, unknown, tag{1}, quiet).code(), errc::invalid_argument);
        EXPECT_EQ(ep.send(pieces, unknown, tag{1}, token{1}).code(), errc::invalid_argument);
        EXPECT_EQ(ep.send(out, unknown, tag{1}, token{1}, remote_data{1}).code(), errc::invalid_argument);
        EXPECT_EQ(ep.inject(out, unknown, tag{1}).code(), errc::invalid_argument);
        EXPECT_FALSE(p.a.home->text_of(unknown).empty());
        if (unknown == any_peer) continue;  // receiving from anybody is fine
        EXPECT_EQ(ep.recv(in, token{1}, unknown).code(), errc::invalid_argument);
        EXPECT_EQ(ep.recv(in, tag{1}, token{1}, match_exactly, unknown).code(), errc::invalid_argument);
    }
    // It still works.
    std::byte room[8];
    const token r = p.recv(p.b, buffer{room, 8}, family::tagged);
    p.send_quiet(p.a, out, family::tagged);
    p.wait_ok(r);
}

TEST_P(refused, messages_beyond_the_limit) {
    pair_of_endpoints p(GetParam());
    const std::uint64_t limit = p.limits().message_size_max;
    if (limit == ~std::uint64_t{0}) GTEST_SKIP() << "there is no limit";
    std::byte byte{};
    const const_buffer huge{&byte, limit + 1};  // refused before anybody looks at the memory
    const std::vector<const_buffer> pieces{const_buffer{&byte, limit}, const_buffer{&byte, 1}};
    auto& ep = p.a.ep;
    EXPECT_EQ(ep.send(huge, p.a.other, token{1}).code(), errc::message_too_long);
    EXPECT_EQ(ep.send(huge, p.a.other, quiet).code(), errc::message_too_long);
    EXPECT_EQ(ep.send(huge, p.a.other, tag{1}, token{1}).code(), errc::message_too_long);
    EXPECT_EQ(ep.send(huge, p.a.other, tag{1}, quiet).code(), errc::message_too_long);
    EXPECT_EQ(ep.send(huge, p.a.other, tag{1}, token{1}, remote_data{1}).code(), errc::message_too_long);
    EXPECT_EQ(ep.send(pieces, p.a.other, token{1}).code(), errc::message_too_long);
    EXPECT_EQ(ep.send(pieces, p.a.other, tag{1}, token{1}).code(), errc::message_too_long);
    // Sizes whose sum wraps around are too long, not small.
    const std::vector<const_buffer> wrapping{const_buffer{&byte, ~std::size_t{0}}, const_buffer{&byte, 2}};
    EXPECT_EQ(ep.send(wrapping, p.a.other, tag{1}, token{1}).code(), errc::message_too_long);
}

TEST_P(set_up, malformed_address_texts) {
    const conditions& c = GetParam();
    side s(c, open_domain(c));
    const std::string good = s.ep.address_text(), scheme = c.provider + "://";
    const std::string rest = good.substr(scheme.size());
    const std::string bad[] = {
        "",
        " ",
        "://",
        c.provider,
        c.provider + ":",
        c.provider + ":/",
        scheme,
        scheme + "/",
        scheme + " ",
        rest,
        "://" + rest,
        "no-such-provider://" + rest,
        " " + good,
        good + " ",
        good + "\n",
        good + std::string(1, '\0'),
        good + "?x=y",
        good + good,
        scheme + rest.substr(0, 1),
        scheme + "?" + rest.substr(1),
        scheme + "\xff\xfe",
        std::string(1, '\0'),
        std::string(100'000, 'a'),
        scheme + std::string(100'000, 'f'),
        "%s%n" + good,
    };
    for (const std::string& text : bad) {
        SCOPED_TRACE("address text \"" + text.substr(0, 60) + "\"");
        const auto answer = s.home->resolve(text);
        ASSERT_FALSE(answer.has_value());
        EXPECT_EQ(answer.error().code, errc::bad_address) << answer.error().text;
        EXPECT_GE(answer.error().text.size(), 15u) << "not a sentence: " << answer.error().text;
        EXPECT_LE(answer.error().text.size(), 1016u);
        EXPECT_EQ(answer.error().text.find('\0'), std::string::npos);
    }
    EXPECT_TRUE(s.home->resolve(good).has_value());
}

TEST_P(set_up, malformed_address_bytes) {
    const conditions& c = GetParam();
    side s(c, open_domain(c));
    const address good = s.ep.address();
    const auto refused = [&](std::span<const std::byte> bytes, const char* what) {
        const auto answer = s.home->insert(bytes);
        ASSERT_FALSE(answer.has_value()) << what;
        EXPECT_EQ(answer.error().code, errc::bad_address) << what;
        EXPECT_GE(answer.error().text.size(), 15u) << what;
    };
    refused({}, "no bytes");
    refused(good.view().first(1), "one byte");
    refused(good.view().first(good.size - 1), "one byte too few");
    std::vector<std::byte> longer(good.view().begin(), good.view().end());
    longer.push_back(std::byte{0});
    refused(longer, "one byte too many");
    refused(std::vector<std::byte>(5000), "thousands of zero bytes");
    EXPECT_TRUE(s.home->insert(good.view()).has_value());
}

struct impossible {
    const char* property;  // a word the refusal must contain, whatever else it says
    std::uint64_t needs::* need;
};

TEST_P(set_up, impossible_needs_are_refused_by_name) {
    const conditions& c = GetParam();
    const auto fab = fabric::open().value();
    constexpr std::uint64_t absurd = std::uint64_t{1} << 62;
    const impossible table[] = {
        {"message", &needs::message_size_min},
        {"inject", &needs::inject_size_min},
        {"receive", &needs::posted_receives_min},
        {"iov", &needs::iov_count_min},
    };
    const domain home = open_domain(c);
    for (const auto& [property, need] : table) {
        SCOPED_TRACE(property);
        needs asked = needs_for(c, {});
        asked.*need = absurd;
        const discovery found = fab.offers(messages, asked);
        EXPECT_TRUE(found.offers.empty());
        const auto refusal = std::find_if(found.refusals.begin(), found.refusals.end(),
                                          [&](const auto& r) { return r.provider == c.provider; });
        ASSERT_NE(refusal, found.refusals.end()) << "the provider is neither among the offers nor refused";
        EXPECT_NE(refusal->text().find(property), std::string::npos) << refusal->text();
        EXPECT_FALSE(refusal->wanted.empty());
        EXPECT_FALSE(refusal->offered.empty());
        EXPECT_FALSE(refusal->remedy.empty());

        const auto best = fab.best(messages, asked);
        ASSERT_FALSE(best.has_value());
        EXPECT_EQ(best.error().code, errc::no_offer);
        EXPECT_NE(best.error().text.find(property), std::string::npos) << best.error().text;

        // The same at a domain that was opened for less.
        domain open = home;
        const auto queue = open.open_queue<entry::tagged>().value();
        const auto ep = open.open<messages>(asked, queue);
        ASSERT_FALSE(ep.has_value());
        EXPECT_NE(ep.error().text.find(property), std::string::npos) << ep.error().text;
    }
}

TEST_P(set_up, a_provider_that_does_not_exist) {
    const auto fab = fabric::open().value();
    needs want;
    want.provider = "no-such-provider";
    EXPECT_TRUE(fab.offers(messages, want).offers.empty());
    const auto best = fab.best(messages, want);
    ASSERT_FALSE(best.has_value());
    EXPECT_TRUE(best.error().code == errc::unknown_name || best.error().code == errc::no_offer);
    EXPECT_NE(best.error().text.find("no-such-provider"), std::string::npos) << best.error().text;
    try {
        (void)fab.best(messages, want).value();
        ADD_FAILURE() << "value() of a failure must throw";
    } catch (const std::system_error& e) {
        EXPECT_NE(std::string(e.what()).find("no-such-provider"), std::string::npos);
    }
}

TEST_P(set_up, offers_keep_what_was_needed) {
    const conditions& c = GetParam();
    const auto fab = fabric::open().value();
    needs want = needs_for(c, {});
    want.message_size_min = 3u << 20;
    want.inject_size_min = 24;
    want.posted_receives_min = 2000;
    const discovery found = fab.offers(messages, want);
    ASSERT_FALSE(found.offers.empty());
    for (std::size_t i = 0; i < found.offers.size(); ++i) {
        const offer& o = found.offers[i];
        EXPECT_EQ(o.provider, c.provider) << "the provider was pinned";
        EXPECT_TRUE(o.abilities.has(messages));
        EXPECT_GE(o.message_size_max, want.message_size_min);
        EXPECT_GE(o.inject_size_max, want.inject_size_min);
        EXPECT_GE(o.posted_receives_max, want.posted_receives_min);
        EXPECT_GE(o.iov_count_max, want.iov_count_min);
        EXPECT_FALSE(o.why.empty());
        EXPECT_FALSE(o.reach.empty());
        if (i != 0) {
            EXPECT_GE(o.rank, found.offers[i - 1].rank);
        }
        EXPECT_TRUE(fab.open_domain(o, want).has_value());
    }
}

// Threading is checked when things are opened: a queue for one thread cannot serve an any_thread endpoint.
TEST_P(set_up, a_queue_for_one_thread_refuses_any_thread_endpoints) {
    conditions c = GetParam();
    domain home = open_domain(c);
    const auto queue = home.open_queue<entry::tagged>({.threads = queue_options::threads_choice::one_thread}).value();
    c.threads = threading::any_thread;
    const auto ep = home.open<messages>(needs_for(c, {}), queue);
    ASSERT_FALSE(ep.has_value());
    EXPECT_GE(ep.error().text.size(), 15u);
    // The other way round is fine.
    const auto wide = home.open_queue<entry::tagged>({.threads = queue_options::threads_choice::any_thread}).value();
    c.threads = threading::one_thread;
    EXPECT_TRUE(home.open<messages>(needs_for(c, {}), wide).has_value());
}

TEST_P(set_up, a_queue_of_another_domain_is_refused) {
    const conditions& c = GetParam();
    domain one = open_domain(c), two = open_domain(c);
    const auto queue = one.open_queue<entry::tagged>().value();
    const auto ep = two.open<messages>(needs_for(c, {}), queue);
    ASSERT_FALSE(ep.has_value());
    EXPECT_GE(ep.error().text.size(), 15u);
}

}  // namespace
}  // namespace weft::conformance
