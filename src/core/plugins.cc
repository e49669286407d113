#include "core/plugins.hpp"

#include <dirent.h>
#include <dlfcn.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "core/limits.hpp"

namespace weft::core {
namespace {

constexpr std::string_view entry_name = "weft_plugin_entry";

// Closes a library that turned out not to be a good plug-in.
struct closer {
    void operator()(void* handle) const noexcept { ::dlclose(handle); }
};
using library = std::unique_ptr<void, closer>;

std::string loader_error() {
    const char* text = ::dlerror();
    return text != nullptr ? text : "the dynamic loader gave no reason";
}

class loader {
  public:
    loader(provider_list& providers, settings_table& settings, complaints& to)
        : providers_(providers), settings_(settings), to_(to) {}

    void directory(const std::string& path, when_missing missing) {
        for (const std::string& name : candidates(path, missing)) file(path + "/" + name);
    }

  private:
    std::vector<std::string> candidates(const std::string& path, when_missing missing) {
        std::vector<std::string> names;
        const std::unique_ptr<DIR, int (*)(DIR*)> dir(::opendir(path.c_str()), ::closedir);
        if (!dir) {
            const int error = errno;
            if (missing == when_missing::complain || (error != ENOENT && error != ENOTDIR))
                to_.add("plugin", "the directory " + path +
                                      " of plugin_path cannot be read: " + std::generic_category().message(error));
            return names;
        }
        while (const dirent* entry = ::readdir(dir.get())) {
            const std::string_view name = entry->d_name;
            if (!name.starts_with("lib") || !name.ends_with("-weft.so")) continue;
            if (names.size() == limits::plugins_per_directory) {
                to_.add("plugin", "the directory " + path + " has more than " +
                                      std::to_string(limits::plugins_per_directory) + " plug-ins; some are not loaded");
                break;
            }
            names.emplace_back(name);
        }
        std::sort(names.begin(), names.end());  // the order of a directory is chance
        return names;
    }

    void file(const std::string& path) {
        struct stat about{};
        if (::stat(path.c_str(), &about) == 0) {
            if (!S_ISREG(about.st_mode)) return skip(path, "it is not a regular file");
            const std::pair identity{about.st_dev, about.st_ino};
            if (std::find(seen_.begin(), seen_.end(), identity) != seen_.end()) return;  // the same under another name
            seen_.push_back(identity);
        }
        library handle(::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL));
        if (!handle) return skip(path, loader_error());
        const weft_plugin* plugin = nullptr;
        if (std::string fault = find_plugin(handle.get(), plugin); !fault.empty()) return skip(path, fault);
        if (add_providers(path, *plugin) == 0) return;
        // Its code must be there as long as any object it made: the handle is never closed, and marked so that
        // nobody else's closing unloads it.
        static_cast<void>(::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE));
        (void)handle.release();  // NOLINT(bugprone-unused-return-value): kept open for good
    }

    static std::string find_plugin(void* handle, const weft_plugin*& found) {
        void* symbol = ::dlsym(handle, std::string(entry_name).c_str());
        if (symbol == nullptr) return "it does not export the function " + std::string(entry_name);
        const weft_plugin* plugin = reinterpret_cast<weft_plugin_entry_function>(symbol)();
        if (plugin == nullptr) return std::string(entry_name) + " returned null";
        // Magic and version come first in every version of the struct; nothing else is read before they are right.
        if (plugin->magic != WEFT_PLUGIN_MAGIC)
            return "what " + std::string(entry_name) + " returned has the wrong magic";
        if (plugin->spi_version != WEFT_SPI_VERSION)
            return "it was built for version " + std::to_string(plugin->spi_version) +
                   " of the plug-in interface, this library has version " + std::to_string(WEFT_SPI_VERSION) +
                   "; build it against this release";
        if (plugin->name == nullptr || plugin->version == nullptr) return "its name or version is null";
        if (plugin->providers == nullptr || plugin->provider_count == 0) return "it has no providers";
        if (plugin->provider_count > limits::providers_per_plugin)
            return "its number of providers, " + std::to_string(plugin->provider_count) + ", cannot be right";
        found = plugin;
        return {};
    }

    std::size_t add_providers(const std::string& path, const weft_plugin& plugin) {
        std::size_t added = 0;
        for (std::size_t i = 0; i < plugin.provider_count; ++i) {
            if (auto done = providers_.add(plugin.providers[i], path, settings_, to_))
                ++added;
            else
                skip(path, done.error().text);
        }
        return added;
    }

    void skip(const std::string& path, const std::string& why) {
        to_.add("plugin", "the plug-in " + path + " is skipped: " + why);
    }

    provider_list& providers_;
    settings_table& settings_;
    complaints& to_;
    std::vector<std::pair<dev_t, ino_t>> seen_;
};

}  // namespace

void load_plugins(std::string_view path, when_missing missing, provider_list& providers, settings_table& settings,
                  complaints& to) {
    loader load(providers, settings, to);
    while (!path.empty()) {
        const auto colon = path.find(':');
        const std::string directory(path.substr(0, colon));
        path = colon == path.npos ? std::string_view{} : path.substr(colon + 1);
        if (directory.empty()) continue;
        if (directory.front() == '/')
            load.directory(directory, missing);
        else  // which code is loaded must not depend on where the program was started
            to.add("plugin", "the directory " + quoted(directory) + " of plugin_path is not absolute; it is skipped");
    }
}

}  // namespace weft::core
