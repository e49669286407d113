// Owner of one file descriptor.
//
// Everything in this room creates descriptors close-on-exec.
#pragma once
#include <utility>

#include <weft/result.hpp>

namespace weft::os {

class descriptor {
  public:
    descriptor() = default;
    // Takes ownership; a negative number means none.
    explicit descriptor(int number) noexcept : number_(number < 0 ? -1 : number) {}
    descriptor(descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    descriptor& operator=(descriptor&& other) noexcept {
        if (this != &other) {
            close();
            number_ = std::exchange(other.number_, -1);
        }
        return *this;
    }
    ~descriptor() { close(); }

    int get() const noexcept { return number_; }
    explicit operator bool() const noexcept { return number_ >= 0; }
    // Gives up ownership.
    [[nodiscard]] int release() noexcept { return std::exchange(number_, -1); }
    // Leaves errno alone, so that it can run between a failed call and its report.
    void close() noexcept;

    // Another descriptor of the same open file.
    result<descriptor> duplicate() const;

  private:
    int number_ = -1;
};

}  // namespace weft::os
