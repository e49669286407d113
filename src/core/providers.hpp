// The providers of one fabric, and the names known beyond them.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weft/plugin.h>
#include <weft/result.hpp>

namespace weft::core {

class complaints;
class settings_table;

struct provider_entry {
    weft_provider* provider;
    std::string name;    // a copy: also valid for providers whose own string is not
    std::string origin;  // "built in", or the plug-in's file
};

class provider_list {
  public:
    // Checks the provider's tables, name and settings; enters it and its settings, or says what is wrong.
    result<void> add(weft_provider*, std::string origin, settings_table&, complaints&);

    const provider_entry* find(std::string_view name) const noexcept;
    const std::vector<provider_entry>& all() const noexcept { return entries_; }

    // "loop, shm", or "none".
    std::string names() const;
    // For a name that find() does not know: what it may have meant, whether that is in this build, what is there.
    // "there is no provider 'tpc'; did you mean tcp? tcp is not part of this build; there are: loop, shm"
    std::string explain_unknown(std::string_view name) const;

  private:
    std::vector<provider_entry> entries_;  // by name
};

// A name that some build of weft has, whether this one does or not.
struct known_provider {
    std::string_view name;
    const char* text;  // one line for people
};
std::span<const known_provider> known_providers() noexcept;
bool is_known_provider_name(std::string_view name) noexcept;

}  // namespace weft::core
