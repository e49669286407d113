#include "support.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace weft::core::test {

place::place() {
    std::string name = std::filesystem::temp_directory_path() / "weft-core-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
    directory_ = name;
}

place::~place() {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
}

result<fabric> place::open() {
    around.builtin = builtin;
    fabric_options options;
    options.settings = program;
    options.sink = log.sink();
    options.load_plugins = load_plugins;
    return open_fabric(std::move(options), around);
}

std::string place::file(const std::string& name, const std::string& content) {
    const std::filesystem::path path = std::filesystem::path(directory_) / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << content;
    return path;
}

}  // namespace weft::core::test
