// Plug-ins through the public face of libweft.so: good ones work, bad ones are reported once and skipped.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <weft/weft.hpp>

namespace {

namespace fs = std::filesystem;
using weft::fabric;
using weft::caps::msg;
using weft::caps::tagged;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// A directory of plug-ins for one test.
class plugin_directory {
  public:
    plugin_directory() {
        std::string name = fs::temp_directory_path() / "weft-plugin-XXXXXX";
        if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
        path_ = name;
    }
    ~plugin_directory() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    plugin_directory(const plugin_directory&) = delete;
    plugin_directory& operator=(const plugin_directory&) = delete;

    // A copy, so that each has its own file and order; `as` sorts.
    void add(const std::string& kind, const std::string& as = "") {
        fs::copy_file(std::string(WEFT_TEST_PLUGIN_DIR) + "/lib" + kind + "-weft.so", file(as.empty() ? kind : as));
    }
    std::string file(const std::string& name) const { return path_ + "/lib" + name + "-weft.so"; }
    const std::string& path() const { return path_; }

  private:
    std::string path_;
};

struct opened {
    std::shared_ptr<std::vector<std::string>> log = std::make_shared<std::vector<std::string>>();
    weft::result<fabric> fab = weft::failure{};
};

opened open(const std::string& path, bool load = true) {
    opened o;
    o.fab = fabric::open({.settings = {{"config", "none"}, {"plugin_path", path}},
                          .sink =
                              [log = o.log](weft::log_level, std::string_view subsystem, std::string_view text) {
                                  if (subsystem == "plugin") log->emplace_back(text);
                              },
                          .load_plugins = load});
    return o;
}

bool available(const fabric& f, const std::string& name, const std::string& origin) {
    for (const auto& p : f.providers())
        if (p.name == name) return p.available && has(p.origin, origin);
    return false;
}

// A message to oneself over whatever this domain is.
void echo(weft::domain dom) {
    auto q = dom.open_queue<>().value();
    auto ep = dom.open<tagged>({}, q).value();
    const weft::peer self = dom.resolve(ep.address_text()).value();
    std::uint64_t out = 4711, in = 0;
    ASSERT_TRUE(ep.recv(weft::bytes_of(in), weft::tag{1}, weft::token{&in}).ok());
    weft::entry::tagged room[4];
    std::span<weft::entry::tagged> got;
    weft::status sent = weft::errc::try_again;
    for (int tries = 0; tries < 1'000'000 && got.empty(); ++tries) {  // contact takes some polls
        if (sent.again()) sent = ep.send(weft::bytes_of(out), self, weft::tag{1}, weft::quiet);
        got = q.poll(room);
    }
    ASSERT_TRUE(sent.ok());
    ASSERT_EQ(got.size(), 1u);
    EXPECT_EQ(got[0].context, weft::token{&in});
    EXPECT_EQ(got[0].source, self);
    EXPECT_EQ(in, out);
}

TEST(plugin, a_good_one_is_loaded_and_works) {
    plugin_directory dir;
    dir.add("loop");
    const auto o = open(dir.path());
    ASSERT_TRUE(o.fab) << o.fab.error().text;
    EXPECT_TRUE(o.log->empty()) << o.log->front();
    EXPECT_TRUE(available(*o.fab, "loop", dir.file("loop")));
    echo(o.fab->best(tagged, {.provider = "loop"}).value());
    bool declared = false;
    for (const auto& s : o.fab->settings()) declared |= s.name == "loop_unexpected_max" && s.value == "1024";
    EXPECT_TRUE(declared);
}

TEST(plugin, objects_outlive_the_fabric_and_its_files) {
    weft::endpoint<tagged> ep;
    weft::completion_queue<> q;
    {
        plugin_directory dir;
        dir.add("loop");
        auto dom = open(dir.path()).fab.value().best(tagged, {.provider = "loop"}).value();
        q = dom.open_queue<>().value();
        ep = dom.open<tagged>({}, q).value();
    }
    EXPECT_EQ(ep.address_text(), "loop://1");
    EXPECT_TRUE(ep.close().ok());
}

TEST(plugin, each_bad_one_is_reported_once_and_skipped) {
    struct {
        const char* kind;
        const char* reason;
    } cases[] = {
        {"no_entry", "does not export the function weft_plugin_entry"},
        {"wrong_magic", "wrong magic"},
        {"wrong_version", "built for version 2 of the plug-in interface, this library has version 1"},
        {"null_plugin", "weft_plugin_entry returned null"},
        {"truncated_table", "weft_provider_ops has 16 bytes, version 1 has 24"},
        {"no_providers", "has no providers"},
        {"null_provider", "pointer to a provider is null"},
        {"null_function", "weft_provider_ops has no function open_domain"},
        {"bad_setting", "initial value of the setting bad_size is wrong: '1K' is out of range; allowed is 4K..8K"},
        {"undefined_symbol", "weft_test_nobody_defines_this"},
    };
    for (const auto& c : cases) {
        plugin_directory dir;
        dir.add(c.kind, "a_bad_one");
        dir.add("loop");
        const auto o = open(dir.path());
        ASSERT_TRUE(o.fab) << o.fab.error().text;
        ASSERT_EQ(o.log->size(), 1u) << c.kind;
        EXPECT_TRUE(has(o.log->front(), dir.file("a_bad_one"))) << o.log->front();
        EXPECT_TRUE(has(o.log->front(), c.reason)) << o.log->front();
        EXPECT_FALSE(available(*o.fab, "bad", ""));
        echo(o.fab->best(tagged, {.provider = "loop"}).value());
    }
}

TEST(plugin, files_that_are_no_libraries) {
    plugin_directory dir;
    dir.add("loop");
    std::ofstream(dir.file("text")) << "this is not an ELF file\n";
    std::ofstream(dir.file("empty")).close();
    fs::create_directory(dir.file("folder"));
    fs::create_symlink(dir.path() + "/nowhere", dir.file("dangling"));
    std::ofstream(dir.path() + "/README") << "not looked at\n";
    const auto o = open(dir.path());
    ASSERT_EQ(o.log->size(), 4u);
    for (const std::string& line : *o.log) EXPECT_TRUE(has(line, "is skipped: ")) << line;
    echo(o.fab->best(tagged, {.provider = "loop"}).value());
}

TEST(plugin, names_that_are_taken) {
    plugin_directory dir;
    dir.add("loop", "a_loop");
    dir.add("named_loop");
    dir.add("named_shm");
    const auto o = open(dir.path());
    ASSERT_TRUE(o.fab);
    const bool shm_built_in = available(*o.fab, "shm", "built in");
    ASSERT_EQ(o.log->size(), shm_built_in ? 2u : 1u);
    EXPECT_TRUE(has(o.log->front(), dir.file("named_loop") + " is skipped: the provider loop is already there (" +
                                        dir.file("a_loop") + ")"))
        << o.log->front();
    if (shm_built_in) {
        EXPECT_TRUE(has(o.log->back(), "the provider shm is already there (built in)")) << o.log->back();
        echo(o.fab->best(tagged, {.provider = "shm"}).value());
    }
    echo(o.fab->best(tagged, {.provider = "loop"}).value());
}

TEST(plugin, a_newer_table_is_fine) {
    plugin_directory dir;
    dir.add("newer_table");
    const auto o = open(dir.path());
    EXPECT_TRUE(o.log->empty());
    const auto found = o.fab->offers(msg, {.provider = "newer"});
    ASSERT_FALSE(found.refusals.empty());
    bool asked = false;
    for (const auto& r : found.refusals) asked |= r.provider == "newer" && r.property == "anything";
    EXPECT_TRUE(asked);
}

TEST(plugin, directories) {
    plugin_directory one, two;
    one.add("loop");
    two.add("good");
    fs::create_symlink(one.file("loop"), two.file("loop_again"));
    auto o = open(one.path() + "::" + two.path() + ":" + one.path());
    EXPECT_TRUE(o.log->empty()) << o.log->front();  // the same file again is no complaint
    EXPECT_TRUE(available(*o.fab, "loop", one.path()));
    EXPECT_TRUE(available(*o.fab, "bad", two.path()));

    o = open(one.path() + "/missing:relative/path:" + one.path());
    ASSERT_EQ(o.log->size(), 2u);
    EXPECT_TRUE(has(o.log->at(0), one.path() + "/missing of plugin_path cannot be read: No such file")) << o.log->at(0);
    EXPECT_TRUE(has(o.log->at(1), "'relative/path' of plugin_path is not absolute")) << o.log->at(1);
    EXPECT_TRUE(available(*o.fab, "loop", one.path()));

    o = open(one.path(), false);
    EXPECT_FALSE(available(*o.fab, "loop", ""));
    o = open("");
    EXPECT_TRUE(o.log->empty());
    EXPECT_FALSE(available(*o.fab, "loop", ""));

    // The default directory need not exist.
    std::vector<std::string> log;
    const auto f = fabric::open({.settings = {{"config", "none"}}, .sink = [&](weft::log_level, auto s, auto t) {
                                     if (s == "plugin") log.emplace_back(t);
                                 }});
    ASSERT_TRUE(f);
    EXPECT_TRUE(log.empty()) << log.front();
}

TEST(plugin, two_fabrics_share_one_without_mixing) {
    plugin_directory dir;
    dir.add("loop");
    auto a = open(dir.path()).fab.value();
    auto b =
        fabric::open({.settings = {{"config", "none"}, {"plugin_path", dir.path()}, {"loop_message_size_max", "64K"}},
                      .sink = [](auto...) {}})
            .value();
    EXPECT_EQ(a.offers(tagged, {.provider = "loop"}).offers.at(0).message_size_max, 16u << 20);
    EXPECT_TRUE(b.offers(tagged, {.provider = "loop"}).offers.empty());  // default needs want 1 MiB
    echo(a.best(tagged, {.provider = "loop"}).value());
}

}  // namespace
