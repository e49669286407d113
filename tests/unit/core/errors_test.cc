#include <set>
#include <string>
#include <system_error>

#include <gtest/gtest.h>
#include <weft/result.hpp>
#include <weft/status.hpp>

namespace weft {
namespace {

constexpr int last = static_cast<int>(errc::system_error);

TEST(errors, every_code_has_name_text_and_remedy) {
    std::set<std::string> names, texts;
    for (int i = 0; i <= last; ++i) {
        const errc_text d = describe(static_cast<errc>(i));
        EXPECT_GT(std::string(d.name).size(), 1u) << i;
        EXPECT_GT(std::string(d.text).size(), 5u) << d.name;
        EXPECT_EQ(std::string(d.remedy).back(), '.') << d.name;
        EXPECT_TRUE(names.insert(d.name).second) << d.name << " twice";
        EXPECT_TRUE(texts.insert(d.text).second) << d.text << " twice";
        EXPECT_STRNE(d.name, "unknown");
    }
}

TEST(errors, names_are_those_of_the_codes) {
    EXPECT_STREQ(describe(errc::ok).name, "ok");
    EXPECT_STREQ(describe(errc::peer_gone).name, "peer_gone");
    EXPECT_STREQ(describe(errc::stale_after_fork).name, "stale_after_fork");
    EXPECT_STREQ(describe(errc::system_error).name, "system_error");
    EXPECT_EQ(std::string(status(errc::peer_gone).text()), std::string("peer_gone: ") + describe(errc::peer_gone).text);
}

TEST(errors, an_unknown_number_says_so) {
    for (int i : {last + 1, -1, 1 << 30}) {
        EXPECT_STREQ(describe(static_cast<errc>(i)).name, "unknown") << i;
        EXPECT_NE(std::string(describe(static_cast<errc>(i)).remedy), "");
    }
}

TEST(errors, category_and_exceptions) {
    const std::error_code code = errc::no_memory;
    EXPECT_STREQ(code.category().name(), "weft");
    EXPECT_TRUE(code == std::errc::not_enough_memory);
    EXPECT_FALSE(code == std::errc::timed_out);
    EXPECT_EQ(code.message(), status(errc::no_memory).text());
    EXPECT_NO_THROW(status{}.check());
    try {
        status(errc::peer_gone).check();
        FAIL() << "must throw";
    } catch (const std::system_error& e) {
        EXPECT_EQ(e.code(), errc::peer_gone);
    }
    result<int> r = failure{errc::no_offer, 0, "the whole story"};
    try {
        static_cast<void>(std::move(r).value());
        FAIL() << "must throw";
    } catch (const std::system_error& e) {
        EXPECT_EQ(e.code(), errc::no_offer);
        EXPECT_NE(std::string(e.what()).find("the whole story"), std::string::npos);
    }
}

}  // namespace
}  // namespace weft
