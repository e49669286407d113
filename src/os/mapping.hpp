// Owner of one range of mapped memory.
//
// A mapping of a descriptor does not need the descriptor any more: close it after mapping.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include <weft/result.hpp>

namespace weft::os {

class descriptor;

enum class protection {
    read_only,
    read_write,
};

// The unit of mappings; sizes below are rounded up to it by the kernel, size() stays what was asked for.
std::size_t page_size() noexcept;

class mapping {
  public:
    mapping() = default;
    mapping(mapping&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
    mapping& operator=(mapping&& other) noexcept {
        if (this != &other) {
            unmap();
            data_ = std::exchange(other.data_, nullptr);
            size_ = std::exchange(other.size_, 0);
        }
        return *this;
    }
    ~mapping() { unmap(); }

    // Private zeroed memory. `size` > 0.
    static result<mapping> anonymous(std::size_t size);
    // Bytes [offset, offset + size) of the file, shared with everybody who maps it. `offset` is a multiple of
    // page_size(), `size` > 0. Touching bytes beyond the file's end raises SIGBUS: for descriptors that came from a
    // peer, call check_sealed() first.
    static result<mapping> shared(const descriptor& file, std::size_t size, protection, std::uint64_t offset = 0);

    std::byte* data() const noexcept { return data_; }
    std::size_t size() const noexcept { return size_; }
    std::span<std::byte> bytes() const noexcept { return {data_, size_}; }
    explicit operator bool() const noexcept { return data_ != nullptr; }
    void unmap() noexcept;

    // A child made by fork() sees zeroes here (anonymous mappings only), which is how it is recognised as a child.
    result<void> wipe_on_fork();
    // A child made by fork() does not have this range at all.
    result<void> omit_on_fork();

  private:
    mapping(std::byte* data, std::size_t size) noexcept : data_(data), size_(size) {}
    static result<mapping> map(int fd, std::size_t size, protection, int flags, std::uint64_t offset);

    std::byte* data_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace weft::os
