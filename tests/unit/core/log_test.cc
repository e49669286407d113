#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "core/host.hpp"
#include "core/log.hpp"
#include "support.hpp"

namespace weft::core {
namespace {

using test::log_book;

std::uint64_t fake_now = 0;
std::uint64_t fake_clock() noexcept { return fake_now; }

log_levels all_debug() { return *parse_log_levels("debug"); }

TEST(log_levels, are_parsed_per_subsystem) {
    const auto l = parse_log_levels("info, shm = debug,core=off");
    ASSERT_TRUE(l) << l.error().text;
    EXPECT_EQ(l->of("plugin"), log_level::info);
    EXPECT_EQ(l->of("shm"), log_level::debug);
    EXPECT_EQ(l->of("core"), log_level::off);
    EXPECT_EQ(parse_log_levels("shm=debug")->of("core"), log_level::warning);
    EXPECT_EQ(parse_log_levels("shm=debug,shm=error")->of("shm"), log_level::error);
}

TEST(log_levels, what_is_wrong_is_named) {
    for (const char* bad : {"", "loud", "shm=", "=debug", "shm=debug,", "shm debug", "SHM=debug", "a=b=debug"}) {
        const auto l = parse_log_levels(bad);
        ASSERT_FALSE(l) << bad;
        EXPECT_NE(l.error().text, "");
    }
    EXPECT_TRUE(test::has(parse_log_levels("shm=loud").error().text, "'loud'"));
    EXPECT_TRUE(test::has(parse_log_levels("shm=loud").error().text, "warning"));
}

TEST(logger, levels_decide) {
    log_book book;
    logger log(book.sink());
    log.set_levels(*parse_log_levels("warning,shm=debug"));
    log.log(log_level::info, "core", "no");
    log.log(log_level::warning, "core", "yes");
    log.log(log_level::debug, "shm", "yes too");
    log.log(log_level::off, "shm", "never");
    ASSERT_EQ(book.lines.size(), 2u);
    EXPECT_EQ(book.lines[0].text, "yes");
    EXPECT_EQ(book.lines[1].subsystem, "shm");
}

TEST(logger, repeats_are_counted_not_shown) {
    log_book book;
    fake_now = 0;
    logger log(book.sink(), fake_clock);
    for (int i = 0; i < 5000; ++i) log.log(log_level::warning, "shm", "the same");
    ASSERT_EQ(book.lines.size(), 3u);  // the 1st, 100th and 1000th
    EXPECT_EQ(book.lines[0].text, "the same");
    EXPECT_EQ(book.lines[2].text, "the same (1000 times so far)");
    log.log(log_level::warning, "core", "the same");  // of somebody else
    EXPECT_EQ(book.lines.size(), 4u);
}

TEST(logger, a_flood_of_different_texts_is_cut_and_reported) {
    log_book book;
    fake_now = 1'000'000'000;
    logger log(book.sink(), fake_clock);
    for (int i = 0; i < 10000; ++i) log.log(log_level::warning, "shm", "text " + std::to_string(i));
    EXPECT_EQ(book.lines.size(), limits::log_burst);
    fake_now += 1'000'000'000;
    for (int i = 0; i < 10000; ++i) log.log(log_level::warning, "shm", "later " + std::to_string(i));
    EXPECT_EQ(book.lines.size(), limits::log_burst + limits::log_lines_per_second + 1);
    EXPECT_EQ(book.count(std::to_string(10000 - limits::log_burst) + " messages were left out"), 1u);
}

TEST(logger, debug_is_not_cut) {
    log_book book;
    fake_now = 0;
    logger log(book.sink(), fake_clock);
    log.set_levels(all_debug());
    for (int i = 0; i < 1000; ++i) log.log(log_level::debug, "shm", "step " + std::to_string(i));
    EXPECT_EQ(book.lines.size(), 1000u);
}

TEST(logger, a_sink_that_throws_or_calls_back_is_survived) {
    int calls = 0;
    logger* self = nullptr;
    logger log([&](log_level, std::string_view, std::string_view) {
        ++calls;
        self->log(log_level::error, "core", "from inside");
        throw std::runtime_error("sink");
    });
    self = &log;
    log.log(log_level::error, "core", "one");
    log.log(log_level::error, "core", "two");
    EXPECT_EQ(calls, 2);
}

TEST(logger, threads_call_the_sink_one_at_a_time) {
    int inside = 0, most = 0, lines = 0;  // not atomic on purpose: the logger's lock must be enough
    logger log([&](log_level, std::string_view, std::string_view) {
        most = std::max(most, ++inside);
        ++lines;
        --inside;
    });
    log.set_levels(all_debug());
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&log, t] {
            for (int i = 0; i < 500; ++i) log.log(log_level::debug, "shm", std::to_string(t) + "/" + std::to_string(i));
        });
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(most, 1);
    EXPECT_EQ(lines, 2000);
}

TEST(logger, default_sink_writes_one_clean_line) {
    logger log({});
    testing::internal::CaptureStderr();
    log.log(log_level::warning, "shm", "bad\x1b[31m name\r");
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "weft[warning] shm: bad?[31m name?\n");
}

TEST(host, lends_log_and_settings_over_the_c_table) {
    log_book book;
    host* h = new host(book.sink());
    h->values.emplace("shm_eager_max", "16384");
    weft_host* c = h;
    EXPECT_EQ(c->ops->size, sizeof(weft_host_ops));
    EXPECT_STREQ(c->ops->setting(c, "shm_eager_max"), "16384");
    EXPECT_EQ(c->ops->setting(c, "nothing"), nullptr);
    EXPECT_EQ(c->ops->setting(c, nullptr), nullptr);
    EXPECT_EQ(c->ops->log_enabled(c, 1, "shm"), 1);
    EXPECT_EQ(c->ops->log_enabled(c, 3, "shm"), 0);
    EXPECT_EQ(c->ops->log_enabled(c, 99, "shm"), 0);
    c->ops->log(c, 0, "shm", "an error");
    c->ops->log(c, -1, "shm", "no level");
    c->ops->log(c, 1, "shm", nullptr);
    ASSERT_EQ(book.lines.size(), 2u);
    EXPECT_EQ(book.lines[0].level, log_level::error);
    c->ops->retain(c);
    c->ops->release(c);
    EXPECT_STREQ(c->ops->setting(c, "shm_eager_max"), "16384");
    c->ops->release(c);
}

}  // namespace
}  // namespace weft::core
