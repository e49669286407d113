#include <sys/stat.h>

#include <string>

#include <gtest/gtest.h>

#include "core/limits.hpp"
#include "core/setting_value.hpp"
#include "core/settings_file.hpp"
#include "support.hpp"

namespace weft::core {
namespace {

using test::has;
using test::joined;
using test::place;
using test::setting;

TEST(setting_value, sizes) {
    EXPECT_EQ(*parse_size("0"), 0u);
    EXPECT_EQ(*parse_size("64k"), 65536u);
    EXPECT_EQ(*parse_size("3M"), 3u << 20);
    EXPECT_EQ(*parse_size("2G"), 2ull << 30);
    EXPECT_EQ(*parse_size("18446744073709551615"), UINT64_MAX);
    for (const char* bad :
         {"", "K", "-1", "+1", " 1", "1 ", "1.5M", "0x10", "1KB", "1T", "18446744073709551616", "17179869184G", "1\n"})
        EXPECT_FALSE(parse_size(bad)) << bad;
}

TEST(setting_value, ranges_and_choices) {
    const setting_definition size{"a_size", WEFT_SETTING_SIZE, "4K", "1K..1M", ""};
    EXPECT_EQ(*checked_value(size, "1K"), "1024");
    EXPECT_EQ(*checked_value(size, "1M"), "1048576");
    for (const char* bad : {"1023", "1048577", "x", "", "-4K"}) {
        const auto v = checked_value(size, bad);
        ASSERT_FALSE(v) << bad;
        EXPECT_TRUE(has(v.error().text, "1K..1M")) << v.error().text;
    }
    const setting_definition count{"a_count", WEFT_SETTING_COUNT, "4", "1..8", ""};
    EXPECT_EQ(*checked_value(count, "8"), "8");
    EXPECT_FALSE(checked_value(count, "1K"));  // a count has no suffix
    const setting_definition choice{"a_choice", WEFT_SETTING_CHOICE, "auto", "auto|pipeline|cma", ""};
    EXPECT_EQ(*checked_value(choice, "cma"), "cma");
    for (const char* bad : {"", "cm", "auto|cma", "CMA"}) EXPECT_FALSE(checked_value(choice, bad)) << bad;
    EXPECT_TRUE(has(checked_value(choice, "x").error().text, "auto, pipeline, cma"));
    const setting_definition text{"a_text", WEFT_SETTING_TEXT, "", "", ""};
    EXPECT_EQ(*checked_value(text, ""), "");
    EXPECT_FALSE(checked_value(text, "a\x01"));
    EXPECT_FALSE(checked_value(text, std::string(limits::setting_value_bytes + 1, 'a')));
}

TEST(setting_value, definitions_of_providers_are_checked) {
    const weft_setting good{"x_size", WEFT_SETTING_SIZE, "4K", "1K..1M", "Text."};
    ASSERT_TRUE(checked_definition(good, "x"));
    EXPECT_EQ(checked_definition(good, "x")->initial, "4096");
    for (const weft_setting& bad :
         {weft_setting{nullptr, WEFT_SETTING_TEXT, "", "", ""}, weft_setting{"x_a", WEFT_SETTING_TEXT, nullptr, "", ""},
          weft_setting{"y_a", WEFT_SETTING_TEXT, "", "", ""}, weft_setting{"x_", WEFT_SETTING_TEXT, "", "", ""},
          weft_setting{"x_A", WEFT_SETTING_TEXT, "", "", ""}, weft_setting{"x_a", 77, "", "", ""},
          weft_setting{"x_a", WEFT_SETTING_SIZE, "4K", "8K..16K", ""},
          weft_setting{"x_a", WEFT_SETTING_SIZE, "4K", "", ""},
          weft_setting{"x_a", WEFT_SETTING_SIZE, "4K", "8K..1K", ""},
          weft_setting{"x_a", WEFT_SETTING_CHOICE, "c", "a|b", ""}})
        EXPECT_FALSE(checked_definition(bad, "x")) << (bad.name != nullptr ? bad.name : "null");
}

TEST(settings_file, lines) {
    complaints odd;
    const auto v = parse_settings("# all\n\n  a = 1  # one\r\nb=x#y\n c =\n=1\nnonsense\na = 2", "f", odd);
    ASSERT_EQ(v.size(), 3u);
    EXPECT_EQ(v[0].name, "b");
    EXPECT_EQ(v[0].value, "x#y");
    EXPECT_EQ(v[1].value, "");
    EXPECT_EQ(v[2].name, "a");
    EXPECT_EQ(v[2].value, "2");
    EXPECT_EQ(v[2].where, "f:8");
    ASSERT_EQ(odd.list().size(), 3u);
    EXPECT_TRUE(has(odd.list()[0].text, "f:6"));
    EXPECT_TRUE(has(odd.list()[1].text, "f:7"));
    EXPECT_TRUE(has(odd.list()[2].text, "set before, at f:3")) << odd.list()[2].text;
}

TEST(settings_file, what_cannot_be_read_is_said) {
    place p;
    const auto complaint_about = [](const std::string& path) {
        complaints odd;
        EXPECT_TRUE(read_settings_file(path, when_missing::complain, odd).empty());
        return odd.list().size() == 1 ? odd.list()[0].text : "?";
    };
    EXPECT_TRUE(has(complaint_about(p.directory() + "/none"), "No such file"));
    EXPECT_TRUE(has(complaint_about(p.directory()), "not a regular file"));
    EXPECT_TRUE(has(complaint_about("/dev/zero"), "not a regular file"));
    EXPECT_TRUE(
        has(complaint_about(p.file("big", std::string(limits::settings_file_bytes + 1, '\n'))), "larger than 64 KiB"));
    EXPECT_TRUE(has(complaint_about(p.file("binary", std::string("a=1\0b", 5))), "not a text file"));
    const std::string fifo = p.directory() + "/fifo";
    ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
    EXPECT_TRUE(has(complaint_about(fifo), "not a regular file"));

    complaints odd;
    EXPECT_TRUE(read_settings_file(p.directory() + "/none", when_missing::say_nothing, odd).empty());
    EXPECT_TRUE(odd.list().empty());
    const std::string full(limits::settings_file_bytes, '\n');
    EXPECT_TRUE(read_settings_file(p.file("full", full), when_missing::complain, odd).empty());
    EXPECT_TRUE(odd.list().empty());
}

TEST(settings, the_nearer_source_wins) {
    place p;
    p.around.system_settings_file =
        p.file("etc", "loop_unexpected_max = 11\nloop_message_size_max = 1M\nlog = error\n");
    auto f = p.open().value();
    EXPECT_EQ(setting(f, "loop_unexpected_max").value, "11");
    EXPECT_EQ(setting(f, "loop_unexpected_max").where, p.directory() + "/etc:1");
    EXPECT_EQ(setting(f, "loop_unexpected_max").initial, "1024");

    p.around.environment["HOME"] = p.directory();
    const std::string users = p.file(".config/weft/weft.conf", "loop_unexpected_max = 12\n");
    f = p.open().value();
    EXPECT_EQ(setting(f, "loop_unexpected_max").value, "12");
    EXPECT_EQ(setting(f, "loop_unexpected_max").where, users + ":1");
    EXPECT_EQ(setting(f, "loop_message_size_max").value, "1048576");  // still the system's

    p.around.environment["XDG_CONFIG_HOME"] = p.directory() + "/xdg";
    p.file("xdg/weft/weft.conf", "loop_unexpected_max = 13\n");
    f = p.open().value();
    EXPECT_EQ(setting(f, "loop_unexpected_max").value, "13");

    p.around.environment["WEFT_CONFIG"] = p.file("own", "loop_unexpected_max = 14\n");
    f = p.open().value();
    EXPECT_EQ(setting(f, "loop_unexpected_max").value, "14");
    EXPECT_EQ(setting(f, "loop_message_size_max").origin, setting_origin::initial);  // no other file was read
    EXPECT_EQ(setting(f, "config").where, "WEFT_CONFIG");

    p.around.environment["WEFT_LOOP_UNEXPECTED_MAX"] = "15";
    f = p.open().value();
    EXPECT_EQ(setting(f, "loop_unexpected_max").value, "15");
    EXPECT_EQ(setting(f, "loop_unexpected_max").origin, setting_origin::environment);
    EXPECT_EQ(setting(f, "loop_unexpected_max").where, "WEFT_LOOP_UNEXPECTED_MAX");

    p.program = {{"loop_unexpected_max", "16"}};
    f = p.open().value();
    EXPECT_EQ(setting(f, "loop_unexpected_max").value, "16");
    EXPECT_EQ(setting(f, "loop_unexpected_max").origin, setting_origin::program);

    p.program = {{"config", "none"}};
    p.around.environment.erase("WEFT_LOOP_UNEXPECTED_MAX");
    f = p.open().value();
    EXPECT_EQ(setting(f, "loop_unexpected_max").origin, setting_origin::initial);
    EXPECT_EQ(f.warnings(), std::vector<std::string>{});
}

TEST(settings, unknown_names_get_the_nearest_one) {
    place p;
    p.around.environment = {{"WEFT_LOOP_UNEXPECTED_MXA", "4"},
                            {"WEFT_loop_unexpected_max", "4"},
                            {"WEFT_TCP_NODELAY", "1"},
                            {"WEFT_ABRACADABRA", "1"},
                            {"WEFTLESS", "1"}};
    p.around.system_settings_file = p.file("etc", "WEFT_LOG = debug\nplugin_paht = /x\nconfig = /y\n");
    const auto f = p.open().value();
    const std::string all = joined(f.warnings());
    EXPECT_TRUE(has(all, "WEFT_LOOP_UNEXPECTED_MXA is not a setting; did you mean WEFT_LOOP_UNEXPECTED_MAX?")) << all;
    EXPECT_TRUE(has(all, "WEFT_loop_unexpected_max is not a setting; did you mean WEFT_LOOP_UNEXPECTED_MAX?")) << all;
    EXPECT_TRUE(has(all, "WEFT_TCP_NODELAY is not a setting; the provider tcp is not part of this build")) << all;
    EXPECT_TRUE(has(all, "WEFT_ABRACADABRA is not a setting; 'weft env' lists all settings")) << all;
    EXPECT_TRUE(has(all, "/etc:1: WEFT_LOG is not a setting; did you mean log?")) << all;
    EXPECT_TRUE(has(all, "/etc:2: plugin_paht is not a setting; did you mean plugin_path?")) << all;
    EXPECT_TRUE(has(all, "/etc:3: config cannot be set in a settings file")) << all;
    EXPECT_EQ(f.warnings().size(), 7u) << all;
    EXPECT_EQ(p.log.lines.size(), 7u);  // each once, to the sink
    EXPECT_EQ(p.log.lines[0].subsystem, "settings");
}

TEST(settings, bad_values_are_reported_and_ignored) {
    place p;
    p.around.environment = {{"WEFT_LOOP_UNEXPECTED_MAX", "0"}, {"WEFT_LOG", "loud"}};
    p.around.system_settings_file = p.file("etc", "loop_unexpected_max = 9\nloop_message_size_max = many\n");
    const auto f = p.open().value();
    const std::string all = joined(f.warnings());
    EXPECT_TRUE(has(all, "WEFT_LOOP_UNEXPECTED_MAX: '0' is out of range; allowed is 1..65536; the value is ignored"))
        << all;
    EXPECT_TRUE(has(all, "etc:2: loop_message_size_max: 'many' is not a size")) << all;
    EXPECT_TRUE(has(all, "WEFT_LOG: 'loud' is not a level")) << all;
    EXPECT_EQ(setting(f, "loop_unexpected_max").value, "9");  // the next source counts
    EXPECT_EQ(setting(f, "loop_message_size_max").value, "16777216");
    EXPECT_EQ(setting(f, "log").value, "warning");
}

TEST(settings, what_the_program_gives_wrong_is_an_error) {
    const auto error = [](const std::string& name, const std::string& value) {
        place p;
        p.program = {{name, value}};
        const auto f = p.open();
        return f ? failure{} : f.error();
    };
    EXPECT_EQ(error("loop_unexpected_max", "4").code, errc::ok);
    EXPECT_EQ(error("loop_unexpected_max", "0").code, errc::invalid_argument);
    EXPECT_TRUE(has(error("loop_unexpected_max", "0").text, "1..65536"));
    EXPECT_EQ(error("loop_unexpected_mxa", "4").code, errc::unknown_name);
    EXPECT_TRUE(has(error("loop_unexpected_mxa", "4").text, "did you mean loop_unexpected_max?"));
    EXPECT_EQ(error("log", "loud").code, errc::invalid_argument);
    EXPECT_EQ(error("provider", "lop").code, errc::unknown_name);
    EXPECT_TRUE(has(error("provider", "lop").text, "did you mean loop?")) << error("provider", "lop").text;
    EXPECT_EQ(error("provider", "prefer:tpc").code, errc::unknown_name);
}

TEST(settings, names_in_log_and_provider_are_checked) {
    place p;
    p.around.environment = {{"WEFT_LOG", "lop=debug,loop=info,tcp=info,core=info"}, {"WEFT_PROVIDER", "tpc"}};
    const auto f = p.open().value();
    const std::string all = joined(f.warnings());
    EXPECT_TRUE(has(all, "WEFT_LOG: 'lop' is no subsystem")) << all;
    EXPECT_TRUE(has(all, "WEFT_PROVIDER: there is no provider 'tpc'; did you mean tcp? tcp is not part of this build"))
        << all;
    EXPECT_EQ(f.warnings().size(), 2u) << all;
}

TEST(settings, a_file_of_rubbish_stays_bounded) {
    place p;
    std::string rubbish;
    for (int i = 0; i < 5000; ++i) rubbish += "x" + std::to_string(i) + "\n";
    p.around.system_settings_file = p.file("etc", rubbish);
    const auto f = p.open().value();
    EXPECT_EQ(f.warnings().size(), limits::warnings + 1);
}

}  // namespace
}  // namespace weft::core
