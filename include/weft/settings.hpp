// Settings: one table in the code, three ways to set them, and a report of what is in force and why.
//
// A value given by the program wins over the environment (WEFT_<NAME>), which wins over the settings file,
// which wins over the default. Unknown names and values out of range are reported once, with the nearest valid
// one, and otherwise have no effect.
#pragma once
#include <cstdint>
#include <string>

namespace weft {

enum class setting_origin : std::uint8_t { initial, file, environment, program };

struct setting_info {
    std::string name;  // "shm_eager_max"; in the environment WEFT_SHM_EAGER_MAX
    std::string value;
    std::string initial;
    std::string choices;  // "auto|pipeline|cma", "4K..1M", or empty for free text
    std::string text;     // one sentence
    setting_origin origin = setting_origin::initial;
    std::string where;  // the file's path and line, or the variable's name
};

}  // namespace weft
