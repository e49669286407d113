#include "core/surroundings.hpp"

#include <dlfcn.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string_view>

#include "core/builtin_providers.hpp"

namespace weft::core {
namespace {

// <libdir>/weft of the library this code is in; empty if that cannot be found out.
std::string directory_beside_library() {
    Dl_info about{};
    if (::dladdr(reinterpret_cast<const void*>(&weft::version), &about) == 0 || about.dli_fname == nullptr) return {};
    const std::unique_ptr<char, void (*)(void*)> real(::realpath(about.dli_fname, nullptr), std::free);
    if (!real) return {};
    const std::string_view file = real.get();
    return std::string(file.substr(0, file.rfind('/'))) + "/weft";
}

std::map<std::string, std::string> environment_of_process() {
    std::map<std::string, std::string> found;
    if (::getauxval(AT_SECURE) != 0 || environ == nullptr) return found;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        const auto equals = text.find('=');
        if (equals == text.npos) continue;
        const std::string_view name = text.substr(0, equals);
        if (name.starts_with("WEFT_") || name == "HOME" || name == "XDG_CONFIG_HOME")
            found.emplace(name, text.substr(equals + 1));
    }
    return found;
}

}  // namespace

surroundings surroundings::of_process() {
    return {builtin_providers(), environment_of_process(), "/etc/weft/weft.conf", directory_beside_library()};
}

}  // namespace weft::core
