#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "fake_provider.hpp"
#include "support.hpp"

namespace weft::core {
namespace {

using test::fake_provider;
using test::has;
using test::place;

TEST(domain, messages_go_through_the_boundary) {
    place p;
    auto dom = p.open().value().best(caps::tagged | caps::msg).value();
    auto q = dom.open_queue<>().value();
    auto ep = dom.open < caps::tagged | caps::msg > ({}, q).value();
    const peer self = dom.resolve(ep.address_text()).value();
    EXPECT_EQ(dom.insert(ep.address().view()).value(), self);
    EXPECT_EQ(dom.text_of(self), ep.address_text());
    EXPECT_EQ(ep.address_text(), "loop://1");

    std::uint64_t out = 42, in = 0;
    ASSERT_TRUE(ep.recv(bytes_of(in), tag{7}, token{std::uintptr_t{1}}).ok());
    ASSERT_TRUE(ep.send(bytes_of(out), self, tag{7}, token{std::uintptr_t{2}}, remote_data{9}).ok());
    std::array<entry::tagged, 8> room;
    const auto got = q.poll(room);
    ASSERT_EQ(got.size(), 2u);
    EXPECT_EQ(got[0].what, op::recv);
    EXPECT_EQ(got[0].context.number(), 1u);
    EXPECT_EQ(got[0].source, self);
    EXPECT_EQ(got[0].size, 8u);
    EXPECT_EQ(got[0].data, remote_data{9});
    EXPECT_EQ(got[0].flags, entry::has_data);
    EXPECT_EQ(got[1].what, op::send);
    EXPECT_EQ(in, 42u);
    ASSERT_TRUE(ep.inject(bytes_of(out), self).ok());
    ASSERT_TRUE(ep.recv(bytes_of(in), token{std::uintptr_t{3}}).ok());
    EXPECT_EQ(q.poll(room).size(), 1u);

    ASSERT_TRUE(ep.recv(bytes_of(in), tag{1}, token{std::uintptr_t{4}}).ok());
    EXPECT_TRUE(ep.cancel(token{std::uintptr_t{4}}).ok());
    EXPECT_EQ(q.poll(room)[0].outcome, errc::canceled);
    ASSERT_TRUE(ep.recv(bytes_of(in), tag{1}, token{std::uintptr_t{5}}).ok());
    EXPECT_TRUE(ep.close().ok());
    EXPECT_EQ(q.poll(room)[0].outcome, errc::canceled);
    EXPECT_EQ(ep.send(bytes_of(out), self, tag{7}, quiet), errc::closed);
}

TEST(domain, paths_and_addresses_explain_themselves) {
    place p;
    auto dom = p.open().value().best(caps::msg).value();
    auto q = dom.open_queue<entry::message>().value();
    auto ep = dom.open<caps::msg>({}, q).value();
    const peer other = dom.resolve("loop://99").value();
    const auto path = ep.path(other).value();
    EXPECT_EQ(path.local, "loop://1");
    EXPECT_EQ(path.remote, "loop://99");
    EXPECT_EQ(path.state, "idle");
    EXPECT_EQ(path.mechanism, "copy");
    EXPECT_EQ(ep.path(peer{77}).error().code, errc::invalid_argument);
    EXPECT_TRUE(has(ep.path(peer{77}).error().text, "77"));
    EXPECT_TRUE(has(dom.text_of(peer{77}), "never gave out"));
    EXPECT_EQ(dom.text_of(any_peer), "any peer");
    for (const std::string& bad : {std::string("loop://"), std::string("loop://x"), std::string(""),
                                   std::string("tcp://1"), std::string("loop://1\0", 9), std::string(5000, 'a')}) {
        const auto r = dom.resolve(bad);
        ASSERT_FALSE(r);
        EXPECT_EQ(r.error().code, errc::bad_address);
        EXPECT_EQ(r.error().text.find("loop: "), 0u) << r.error().text;
    }
    EXPECT_EQ(dom.insert({}).error().code, errc::bad_address);
    const endpoint<caps::msg> empty;
    EXPECT_EQ(empty.address().size, 0u);
    EXPECT_EQ(empty.address_text(), "");
    EXPECT_EQ(empty.path(other).error().code, errc::closed);
}

TEST(domain, wrong_use_is_explained) {
    place p;
    fake_provider other("other");
    p.builtin.push_back(&other);
    const auto f = p.open().value();
    auto dom = f.best(caps::msg).value();
    EXPECT_EQ(dom.open_queue<>({.depth = 0}).error().code, errc::invalid_argument);
    completion_queue<> empty;
    EXPECT_EQ(dom.open<caps::msg>({}, empty).error().code, errc::invalid_argument);
    auto q = dom.open_queue<>().value();
    EXPECT_EQ(dom.open<caps::none>({}, q).error().code, errc::invalid_argument);
    EXPECT_EQ(dom.open<caps::msg>({.provider = "other"}, q).error().code, errc::invalid_argument);
    EXPECT_EQ(dom.open<caps::rma>({}, q).error().code, errc::not_supported);

    offer made_up = dom.what();
    made_up.provider = "tpc";
    EXPECT_EQ(f.open_domain(made_up).error().code, errc::unknown_name);
    made_up.provider = "loop";
    made_up.device = "eth0";
    EXPECT_TRUE(has(f.open_domain(made_up).error().text, "no device eth0"));
    EXPECT_EQ(f.open_domain(dom.what(), {.provider = "other"}).error().code, errc::invalid_argument);
}

// Each object goes in each place of the order; the sanitizer builds see what is used too late.
TEST(domain, objects_end_in_any_order) {
    int order[] = {0, 1, 2, 3};
    do {
        place p;
        std::optional<fabric> f = p.open().value();
        std::optional<domain> dom = f->best(caps::msg).value();
        auto q = dom->open_queue<entry::tokens>().value();
        auto ep = dom->open<caps::msg>({}, q).value();
        const peer self = dom->resolve(ep.address_text()).value();
        for (const int what : order) {
            if (what == 0) f.reset();
            if (what == 1) dom.reset();
            if (what == 2) q = {};
            if (what == 3) {
                std::byte b{};
                EXPECT_TRUE(ep.send(const_buffer(&b, 1), self, quiet).ok());
                ep = {};
            }
        }
    } while (std::next_permutation(std::begin(order), std::end(order)));
}

TEST(domain, queues_take_the_threads_of_the_domain) {
    static std::uint32_t seen;
    static const weft_domain_ops* real;
    place p;
    fake_provider spy("spy");
    spy.offers(0);
    static weft_domain_ops table;
    spy.on_open = [](weft_host* h, const weft_needs& n, weft_failure* f) {
        weft_domain* d = weft_provider_loop.ops->open_domain(&weft_provider_loop, h, "", &n, f);
        real = d->ops;
        table = *real;
        table.open_queue = [](weft_domain* in, const weft_queue_params* q, weft_failure* why) {
            seen = q->any_thread;
            return real->open_queue(in, q, why);
        };
        d->ops = &table;
        return d;
    };
    p.builtin.push_back(&spy);
    const auto f = p.open().value();
    using choice = queue_options::threads_choice;
    auto one = f.best(caps::msg).value();
    auto any = f.best(caps::msg, {.threads = threading::any_thread}).value();
    EXPECT_TRUE(one.open_queue<>());
    EXPECT_EQ(seen, 0u);
    EXPECT_TRUE(any.open_queue<>());
    EXPECT_EQ(seen, 1u);
    EXPECT_TRUE(any.open_queue<>({.threads = choice::one_thread}));
    EXPECT_EQ(seen, 0u);
    EXPECT_TRUE(one.open_queue<>({.threads = choice::any_thread}));
    EXPECT_EQ(seen, 1u);
}

// ---- providers that do not keep to the contract

TEST(boundary, failures_always_have_code_and_text) {
    place p;
    fake_provider bad("bad");
    bad.offers(0);
    p.builtin = {&bad};
    const auto f = p.open().value();
    EXPECT_EQ(f.best(caps::msg).error().code, errc::system_error);
    EXPECT_EQ(f.best(caps::msg).error().text, "bad: cannot open a domain: the provider gave no reason");
    bad.on_open = [](weft_host*, const weft_needs&, weft_failure* why) -> weft_domain* {
        why->code = static_cast<int>(errc::no_memory);
        why->native = 12;
        std::memset(why->text, 'x', sizeof why->text);  // without an end
        return nullptr;
    };
    const failure long_one = f.best(caps::msg).error();
    EXPECT_EQ(long_one.code, errc::no_memory);
    EXPECT_EQ(long_one.native, 12);
    EXPECT_EQ(long_one.text, "bad: " + std::string(sizeof(weft_failure::text) - 1, 'x'));
}

TEST(boundary, objects_with_short_tables_are_not_called) {
    place p;
    fake_provider bad("bad");
    bad.offers(0);
    p.builtin = {&bad};
    const auto f = p.open().value();
    static weft_domain_ops table;  // all functions null: calling one would crash
    static weft_domain made{&table};
    bad.on_open = [](weft_host*, const weft_needs&, weft_failure*) { return &made; };
    table.size = offsetof(weft_domain_ops, release);
    EXPECT_EQ(f.best(caps::msg).error().code, errc::version_mismatch);
    EXPECT_TRUE(has(f.best(caps::msg).error().text, "weft_domain_ops has 56 bytes, version 1 has 64"));
    table.size = sizeof table;
    EXPECT_TRUE(has(f.best(caps::msg).error().text, "no function open_queue"));
    made.ops = nullptr;
    EXPECT_TRUE(has(f.best(caps::msg).error().text, "is null"));

    // A good domain whose queues and endpoints are not.
    static weft_domain_ops mixed;
    static weft_queue_ops queue_table;
    static weft_queue bad_queue{&queue_table};
    static weft_endpoint_ops endpoint_table;
    static weft_endpoint bad_endpoint{&endpoint_table};
    bad.on_open = [](weft_host* h, const weft_needs& n, weft_failure* why) {
        weft_domain* d = weft_provider_loop.ops->open_domain(&weft_provider_loop, h, "", &n, why);
        mixed = *d->ops;
        mixed.open_queue = [](weft_domain*, const weft_queue_params*, weft_failure*) { return &bad_queue; };
        mixed.open_endpoint = [](weft_domain*, const weft_needs*, weft_queue*, void*, const void**, weft_failure*) {
            return &bad_endpoint;
        };
        d->ops = &mixed;
        return d;
    };
    // The lists of providers are unchanged: loop's settings are needed by the domain made above.
    p.builtin = {&bad, &weft_provider_loop};
    auto dom = p.open().value().best(caps::msg).value();
    queue_table.size = 8;
    EXPECT_EQ(dom.open_queue<>().error().code, errc::version_mismatch);
    completion_queue<> q;
    endpoint_table.size = offsetof(weft_endpoint_ops, release);
    weft_queue_ops good{sizeof good, [](weft_queue*, void*, std::size_t) { return std::size_t{0}; },
                        [](weft_queue*) {}};
    weft_queue good_queue{&good};
    q = completion_queue<>(&good_queue);
    EXPECT_EQ(dom.open<caps::msg>({}, q).error().code, errc::version_mismatch);
}

TEST(boundary, bad_built_in_providers_are_left_out) {
    const weft_setting doubled[] = {{"bad_x", WEFT_SETTING_TEXT, "", "", ""}, {"bad_x", WEFT_SETTING_TEXT, "", "", ""}};
    const weft_setting foreign[] = {{"loop_x", WEFT_SETTING_TEXT, "", "", ""}};
    struct {
        const char* reason;
        void (*spoil)(fake_provider&, const weft_setting*);
        const weft_setting* with;
    } cases[] = {
        {"weft_provider_ops is null", [](fake_provider& b, const weft_setting*) { b.ops = nullptr; }, nullptr},
        {"has 16 bytes, version 1 has 24", [](fake_provider& b, const weft_setting*) { b.table_.size = 16; }, nullptr},
        {"no function open_domain", [](fake_provider& b, const weft_setting*) { b.table_.open_domain = nullptr; },
         nullptr},
        {"name is null", [](fake_provider& b, const weft_setting*) { b.name = nullptr; }, nullptr},
        {"not a lower case word", [](fake_provider& b, const weft_setting*) { b.name = "a_b"; }, nullptr},
        {"not a lower case word", [](fake_provider& b, const weft_setting*) { b.name = ""; }, nullptr},
        {"is reserved", [](fake_provider& b, const weft_setting*) { b.name = "core"; }, nullptr},
        {"already there (built in)", [](fake_provider& b, const weft_setting*) { b.name = "loop"; }, nullptr},
        {"text is null", [](fake_provider& b, const weft_setting*) { b.text = nullptr; }, nullptr},
        {"settings cannot be right", [](fake_provider& b, const weft_setting*) { b.setting_count = 3; }, nullptr},
        {"twice",
         [](fake_provider& b, const weft_setting* s) {
             b.settings = s;
             b.setting_count = 2;
         },
         doubled},
        {"not of the form bad_",
         [](fake_provider& b, const weft_setting* s) {
             b.settings = s;
             b.setting_count = 1;
         },
         foreign},
    };
    for (const auto& c : cases) {
        place p;
        fake_provider bad("bad");
        c.spoil(bad, c.with);
        p.builtin = {&weft_provider_loop, &bad};
        const auto f = p.open().value();
        ASSERT_EQ(f.warnings().size(), 1u) << c.reason;
        EXPECT_TRUE(has(f.warnings()[0], c.reason)) << f.warnings()[0];
        EXPECT_EQ(f.offers(caps::msg).offers.size(), 1u) << c.reason;
        EXPECT_EQ(bad.probes, 0);
    }
}

}  // namespace
}  // namespace weft::core
