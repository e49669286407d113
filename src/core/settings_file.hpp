// Reads a settings file: lines `name = value`, comments from a '#' at the start of a line or after a space.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include <weft/result.hpp>
#include <weft/settings.hpp>

#include "core/complaints.hpp"

namespace weft::core {

// A value that somebody gave, before it is known whether such a setting exists.
struct given_value {
    std::string name;   // "shm_eager_max"
    std::string value;
    setting_origin origin = setting_origin::initial;
    std::string where;  // "WEFT_SHM_EAGER_MAX", "/etc/weft/weft.conf:3", "program"
};

enum class when_missing { say_nothing, complain };

// The lines of the file. A file that cannot be read or is larger than limits::settings_file_bytes counts as empty;
// that, and each line that cannot be understood, is a complaint with path and line.
std::vector<given_value> read_settings_file(const std::string& path, when_missing, complaints&);

// The same for text that is already there.
std::vector<given_value> parse_settings(std::string_view text, const std::string& path, complaints&);

}  // namespace weft::core
