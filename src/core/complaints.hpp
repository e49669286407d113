// Everything odd that opening a fabric noticed: one sentence each, each once, in bounded number.
#pragma once
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "core/limits.hpp"

namespace weft::core {

struct complaint {
    const char* subsystem;  // "settings", "plugin"; a string literal
    std::string text;
    bool operator==(const complaint&) const = default;
};

class complaints {
  public:
    void add(const char* subsystem, std::string text) {
        complaint c{subsystem, std::move(text)};
        if (std::find(list_.begin(), list_.end(), c) != list_.end()) return;
        if (list_.size() < limits::warnings) {
            list_.push_back(std::move(c));
        } else if (!full_) {
            full_ = true;
            list_.push_back({"core", "there are more complaints than these; they are not listed"});
        }
    }
    const std::vector<complaint>& list() const noexcept { return list_; }

  private:
    std::vector<complaint> list_;
    bool full_ = false;
};

// A value from outside in quotes, short enough for a sentence.
inline std::string quoted(std::string_view value) {
    constexpr std::size_t shown = 80;
    if (value.size() <= shown) return "'" + std::string(value) + "'";
    return "'" + std::string(value.substr(0, shown)) + "...'";
}

}  // namespace weft::core
