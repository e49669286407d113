#include <chrono>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fake_provider.hpp"
#include "support.hpp"

namespace weft::core {
namespace {

using test::fake_provider;
using test::has;
using test::place;

std::vector<std::string> names(const discovery& d) {
    std::vector<std::string> list;
    for (const offer& o : d.offers) list.push_back(o.provider + (o.device.empty() ? "" : "/" + o.device));
    return list;
}
using list = std::vector<std::string>;

TEST(discovery, an_offer_arrives_whole) {
    place p;
    const auto found = p.open().value().offers(caps::tagged);
    ASSERT_EQ(names(found), list{"loop"});
    const offer& o = found.offers[0];
    EXPECT_EQ(o.abilities, caps::msg | caps::tagged);
    EXPECT_EQ(o.reach, "this domain");
    EXPECT_EQ(o.rank, 1000);
    EXPECT_EQ(o.message_size_max, 16u << 20);
    EXPECT_EQ(o.inject_size_max, 4096u);
    EXPECT_EQ(o.details,
              (std::vector<std::pair<std::string, std::string>>{{"mechanism", "copy"}, {"unexpected", "bounded"}}));
    EXPECT_TRUE(found.refusals.empty());
}

TEST(discovery, settings_reach_the_provider) {
    place p;
    p.program = {{"loop_message_size_max", "64K"}};
    const auto found = p.open().value().offers(caps::tagged, {.message_size_min = 65536});
    ASSERT_EQ(found.offers.size(), 1u);
    EXPECT_EQ(found.offers[0].message_size_max, 65536u);
}

TEST(discovery, each_need_is_refused_with_its_reason) {
    place p;
    const auto f = p.open().value();
    struct {
        needs want;
        capset c;
        const char* property;
    } cases[] = {
        {{.message_size_min = 1ull << 40}, caps::msg, "message size"},
        {{.inject_size_min = 1 << 20}, caps::msg, "inject size"},
        {{.posted_receives_min = 1 << 20}, caps::msg, "posted receives"},
        {{.iov_count_min = 1000}, caps::msg, "pieces"},
        {{.wait_fd = true}, caps::msg, "wait_fd"},
        {{}, caps::msg | caps::rma, "capabilities"},
    };
    for (const auto& c : cases) {
        const auto found = f.offers(c.c, c.want);
        EXPECT_TRUE(found.offers.empty()) << c.property;
        ASSERT_EQ(found.refusals.size(), 1u) << c.property;
        EXPECT_EQ(found.refusals[0].provider, "loop");
        EXPECT_EQ(found.refusals[0].property, c.property);
        EXPECT_NE(found.refusals[0].remedy, "");
    }
}

TEST(discovery, nonsense_is_refused_by_the_core) {
    place p;
    fake_provider fake("fake");
    p.builtin = {&fake};
    const auto f = p.open().value();
    auto found = f.offers(caps::none);
    ASSERT_EQ(found.refusals.size(), 1u);
    EXPECT_TRUE(has(found.refusals[0].text(), "wanted none")) << found.refusals[0].text();
    found = f.offers(capset{1u << 20} | caps::msg);
    ASSERT_EQ(found.refusals.size(), 1u);
    EXPECT_EQ(fake.probes, 0);
    EXPECT_EQ(f.best(caps::none).error().code, errc::no_offer);
}

TEST(discovery, without_providers_there_is_an_explanation) {
    place p;
    p.builtin = {};
    const auto f = p.open().value();
    EXPECT_TRUE(has(f.best(caps::msg).error().text, "this build has no provider"));
}

TEST(discovery, ranks_then_names_and_preferred_first) {
    place p;
    fake_provider a("aaa"), b("bbb"), c("ccc");
    a.offers(200);
    b.offers(100, "x");
    c.offers(100);
    p.builtin = {&c, &a, &weft_provider_loop, &b};
    const auto f = p.open().value();
    EXPECT_EQ(names(f.offers(caps::msg)), (list{"bbb/x", "ccc", "aaa", "loop"}));
    EXPECT_EQ(names(f.offers(caps::msg, {}, {.provider = "loop"})), (list{"loop", "bbb/x", "ccc", "aaa"}));
    EXPECT_EQ(names(f.offers(caps::msg, {}, {.provider = "not there"})), (list{"bbb/x", "ccc", "aaa", "loop"}));
    p.around.environment["WEFT_PROVIDER"] = "prefer:aaa";
    const auto g = p.open().value();
    EXPECT_EQ(names(g.offers(caps::msg)), (list{"aaa", "bbb/x", "ccc", "loop"}));
    EXPECT_EQ(names(g.offers(caps::msg, {}, {.provider = "ccc"})), (list{"ccc", "bbb/x", "aaa", "loop"}));
}

TEST(discovery, a_pin_leaves_one_and_says_so_for_the_others) {
    place p;
    fake_provider a("aaa");
    a.offers(1);
    p.builtin = {&a, &weft_provider_loop};
    auto found = p.open().value().offers(caps::msg, {.provider = "loop"});
    EXPECT_EQ(names(found), list{"loop"});
    EXPECT_EQ(a.probes, 0);
    ASSERT_EQ(found.refusals.size(), 1u);
    EXPECT_EQ(found.refusals[0].provider, "aaa");
    EXPECT_EQ(found.refusals[0].property, "provider");

    p.around.environment["WEFT_PROVIDER"] = "loop";
    const auto f = p.open().value();
    found = f.offers(caps::msg);
    EXPECT_EQ(names(found), list{"loop"});
    EXPECT_TRUE(has(found.refusals[0].remedy, "WEFT_PROVIDER"));
    EXPECT_EQ(names(f.offers(caps::msg, {.provider = "aaa"})), list{"aaa"});  // the program is nearer
}

TEST(discovery, an_unknown_provider_is_explained) {
    place p;
    const auto f = p.open().value();
    const auto text = [&](const std::string& name) { return f.best(caps::msg, {.provider = name}).error().text; };
    EXPECT_TRUE(has(text("tpc"), "did you mean tcp? tcp is not part of this build; there are: loop")) << text("tpc");
    EXPECT_TRUE(has(text("tcp"), "the provider tcp is not part of this build; there are: loop")) << text("tcp");
    EXPECT_TRUE(has(text("lopo"), "did you mean loop?; there are: loop")) << text("lopo");
    EXPECT_TRUE(has(text("quantum"), "there is no provider 'quantum'; there are: loop")) << text("quantum");
    EXPECT_EQ(f.best(caps::msg, {.provider = "tpc"}).error().code, errc::no_offer);
}

TEST(discovery, best_lists_every_refusal) {
    place p;
    fake_provider a("aaa");
    a.on_probe = [](weft_host*, const weft_needs&, weft_sink* s) {
        const weft_refusal r{sizeof r, "aaa", "eth0", "wait_fd", "a descriptor", "none", "poll"};
        s->refuse(s, &r);
        s->refuse(s, &r);
    };
    p.builtin = {&a, &weft_provider_loop};
    const auto failed = p.open().value().best(caps::tagged | caps::rma);
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().code, errc::no_offer);
    EXPECT_EQ(failed.error().text,
              "no provider meets the needs (tagged, rma):"
              "\n  aaa (eth0): wait_fd: wanted a descriptor, offered none; poll"
              "\n  aaa (eth0): wait_fd: wanted a descriptor, offered none; poll"
              "\n  loop: capabilities: wanted rma or atomics, offered msg, tagged; leave rma and atomics out");
}

TEST(discovery, odd_answers_of_providers_are_survived) {
    place p;
    fake_provider silent("silent"), small("small"), nulls("nulls");
    small.on_probe = [](weft_host*, const weft_needs&, weft_sink* s) {
        weft_offer o{};
        o.size = offsetof(weft_offer, details);
        s->offer(s, &o);
        s->offer(s, nullptr);
        weft_refusal r{};
        s->refuse(s, &r);
    };
    nulls.on_probe = [](weft_host*, const weft_needs&, weft_sink* s) {
        weft_offer o{};
        o.size = sizeof o + 100;  // of a newer release
        s->offer(s, &o);
        weft_refusal r{};
        r.size = sizeof r;
        s->refuse(s, &r);
    };
    p.builtin = {&silent, &small, &nulls};
    const auto found = p.open().value().offers(caps::msg);
    EXPECT_EQ(names(found), list{"nulls"});
    ASSERT_EQ(found.refusals.size(), 3u);
    EXPECT_EQ(p.log.count("of an unknown layout"), 2u);
    EXPECT_TRUE(has(found.refusals[1].text(), "silent: an answer")) << found.refusals[1].text();
}

TEST(discovery, the_address_selects_the_provider) {
    place p;
    fake_provider a("aaa");
    a.offers(1);
    p.builtin = {&a, &weft_provider_loop};
    const auto f = p.open().value();
    auto d = f.best_for("loop://1", caps::msg);
    ASSERT_TRUE(d) << d.error().text;
    EXPECT_EQ(d->what().provider, "loop");
    const auto error = [&](const char* target, const needs& want = {}) {
        return f.best_for(target, caps::msg, want).error();
    };
    EXPECT_EQ(error("no address").code, errc::bad_address);
    EXPECT_EQ(error("://x").code, errc::bad_address);
    EXPECT_EQ(error("lopo://1").code, errc::bad_address);
    EXPECT_TRUE(has(error("lopo://1").text, "did you mean loop?")) << error("lopo://1").text;
    EXPECT_TRUE(has(error("tcp://10.0.0.1:1").text, "tcp is not part of this build"));
    EXPECT_EQ(error("loop://1", {.provider = "aaa"}).code, errc::no_offer);
    EXPECT_TRUE(has(error("loop://1", {.wait_fd = true}).text, "wait_fd"));
}

std::ptrdiff_t entries_of(const char* directory) {
    std::filesystem::directory_iterator it(directory);
    return std::distance(begin(it), end(it));
}

TEST(discovery, leaves_no_thread_and_no_descriptor) {
    const auto descriptors = entries_of("/proc/self/fd"), threads = entries_of("/proc/self/task");
    const auto start = std::chrono::steady_clock::now();
    const auto f =
        fabric::open({.settings = {{"config", "none"}}, .sink = [](auto...) {}, .load_plugins = false}).value();
    const auto opened = std::chrono::steady_clock::now();
    const auto found = f.offers(caps::tagged);
    const auto end = std::chrono::steady_clock::now();
    EXPECT_EQ(entries_of("/proc/self/fd"), descriptors);
    EXPECT_EQ(entries_of("/proc/self/task"), threads);
    const auto us = [](auto d) {
        return static_cast<int>(std::chrono::duration_cast<std::chrono::microseconds>(d).count());
    };
    RecordProperty("open_us", us(opened - start));
    RecordProperty("discovery_us", us(end - opened));
    std::printf("fabric::open %d us, offers %d us (aim: 10000 us together)\n", us(opened - start), us(end - opened));

    place p;
    const auto own = p.open().value();
    static_cast<void>(own.offers(caps::tagged));
    static_cast<void>(own.best(caps::rma));
    EXPECT_EQ(entries_of("/proc/self/fd"), descriptors);
    EXPECT_EQ(entries_of("/proc/self/task"), threads);
}

TEST(fabric, lists_what_is_there_and_what_is_known) {
    place p;
    const auto f = p.open().value();
    bool loop = false, tcp = false;
    for (const provider_info& i : f.providers()) {
        if (i.name == "loop") loop = i.available && i.origin == "built in" && !i.text.empty();
        if (i.name == "tcp") tcp = !i.available && !i.text.empty();
    }
    EXPECT_TRUE(loop);
    EXPECT_TRUE(tcp);
    EXPECT_EQ(std::string(version()).find("0."), 0u);
}

}  // namespace
}  // namespace weft::core
