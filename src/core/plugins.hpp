// Loads plug-ins: shared libraries lib<name>-weft.so in the directories of the setting `plugin_path`.
//
// A bad one is a complaint with file and reason and never keeps others from being loaded. A good one stays in the
// process, because objects made by it may outlive the fabric.
#pragma once
#include <string_view>

#include "core/complaints.hpp"
#include "core/providers.hpp"
#include "core/settings.hpp"
#include "core/settings_file.hpp"

namespace weft::core {

// `missing`: whether a directory that does not exist is worth a word (it is when somebody named it).
void load_plugins(std::string_view path, when_missing missing, provider_list&, settings_table&, complaints&);

}  // namespace weft::core
