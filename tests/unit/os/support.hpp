// What the tests of this room share: no descriptor may leak, files live in a fresh directory, children are collected.
#pragma once
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/random.hpp"
#include "os/limits.hpp"

namespace weft::os::test {

// Fails the test that leaves more (or fewer) descriptors open than it found.
class no_leaks : public ::testing::Test {
  protected:
    void SetUp() override { before_ = open_descriptors(); }
    void TearDown() override { EXPECT_EQ(open_descriptors(), before_) << "descriptors leaked"; }

  private:
    int before_ = 0;
};

class temporary_directory {
  public:
    temporary_directory() {
        std::string pattern = (std::filesystem::temp_directory_path() / "weft-test-XXXXXX").string();
        if (::mkdtemp(pattern.data()) != nullptr) path_ = pattern;
    }
    ~temporary_directory() {
        std::error_code ignored;
        if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
    }
    temporary_directory(const temporary_directory&) = delete;
    temporary_directory& operator=(const temporary_directory&) = delete;
    std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }

  private:
    std::string path_;
};

inline std::string fresh_name() { return "weft-test-" + base::to_text(base::random_identity().value()); }

// Lowers the soft limit while it lives.
class lowered_limit {
  public:
    lowered_limit(__rlimit_resource resource, rlim_t soft) : resource_(resource) {
        ::getrlimit(resource_, &before_);
        const rlimit lower{soft, before_.rlim_max};
        ::setrlimit(resource_, &lower);
    }
    ~lowered_limit() { ::setrlimit(resource_, &before_); }
    lowered_limit(const lowered_limit&) = delete;
    lowered_limit& operator=(const lowered_limit&) = delete;

  private:
    __rlimit_resource resource_;
    rlimit before_{};
};

// Runs `body` in a child and returns its exit status, or 128 + the signal that ended it.
template <class Body>
int in_child(Body&& body) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(body());
    int status = 0;
    while (::waitpid(child, &status, 0) < 0) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

inline std::span<const std::byte> bytes(std::string_view text) { return std::as_bytes(std::span(text)); }
inline std::string_view text(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
inline bool contains(const std::string& whole, std::string_view part) { return whole.find(part) != std::string::npos; }

}  // namespace weft::os::test
