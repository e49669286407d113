// Fabrics in surroundings of the test's own making: no environment, no files, the example provider "loop" built in.
#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <weft/weft.hpp>

#include "core/surroundings.hpp"

extern "C" weft_provider weft_provider_loop;

namespace weft::core::test {

struct logged {
    log_level level;
    std::string subsystem, text;
};

// Where the log of a fabric goes. Outlives the fabric and everything made with it.
struct log_book {
    std::vector<logged> lines;
    log_sink sink() {
        return [this](log_level l, std::string_view s, std::string_view t) {
            lines.push_back({l, std::string(s), std::string(t)});
        };
    }
    std::size_t count(std::string_view part) const {
        std::size_t n = 0;
        for (const logged& l : lines) n += l.text.find(part) != std::string::npos ? 1u : 0u;
        return n;
    }
};

class place {
  public:
    place();
    ~place();
    place(const place&) = delete;
    place& operator=(const place&) = delete;

    surroundings around;
    std::vector<weft_provider*> builtin{&weft_provider_loop};
    log_book log;
    std::map<std::string, std::string> program;
    bool load_plugins = false;

    result<fabric> open();
    // A file below this test's own directory; directories on the way are made.
    std::string file(const std::string& name, const std::string& content);
    const std::string& directory() const noexcept { return directory_; }

  private:
    std::string directory_;
};

inline bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }
inline std::string joined(const std::vector<std::string>& lines) {
    std::string all;
    for (const std::string& l : lines) all += l + "\n";
    return all;
}
// The value of a setting, or "?".
inline setting_info setting(const fabric& f, std::string_view name) {
    for (const setting_info& s : f.settings())
        if (s.name == name) return s;
    setting_info none;
    none.value = "?";
    return none;
}

}  // namespace weft::core::test
