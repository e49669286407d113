// What a fabric takes from outside the program's own options: providers built in, environment, places of files.
//
// Gathered once and handed in, so that tests can open fabrics in surroundings of their own making.
#pragma once
#include <map>
#include <span>
#include <string>

#include <weft/plugin.h>
#include <weft/fabric.hpp>

namespace weft::core {

struct surroundings {
    std::span<weft_provider* const> builtin;
    std::map<std::string, std::string> environment;  // WEFT_*, HOME, XDG_CONFIG_HOME
    std::string system_settings_file;
    std::string plugin_directory;  // where plug-ins are looked for if no setting says otherwise; may be empty

    // Of this process. One that runs with another user's rights (set-user-ID, file capabilities) has no
    // environment: whoever started it must not choose the libraries it loads.
    static surroundings of_process();
};

result<fabric> open_fabric(fabric_options, const surroundings&);

}  // namespace weft::core
