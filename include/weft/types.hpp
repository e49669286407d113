// Strong types: none of these converts to another, or to a plain integer, by accident.
#pragma once
#include <compare>
#include <cstddef>
#include <cstdint>

namespace weft {

namespace detail {
template <class Name, class Rep>
struct strong {
    Rep value{};
    constexpr strong() = default;
    constexpr explicit strong(Rep v) noexcept : value(v) {}
    friend constexpr auto operator<=>(strong, strong) = default;
};
}  // namespace detail

// A peer is an index into the address vector of the domain that resolved it: cheap to pass, and the same
// value a C caller sees as fi_addr_t. Peers that make contact by themselves are entered automatically.
struct peer : detail::strong<peer, std::uint64_t> {
    using strong::strong;
};
inline constexpr peer any_peer{~std::uint64_t{0}};

struct tag : detail::strong<tag, std::uint64_t> {
    using strong::strong;
};
// Bits set here are not compared when a receive is matched.
struct ignore_bits : detail::strong<ignore_bits, std::uint64_t> {
    using strong::strong;
};
inline constexpr ignore_bits match_exactly{0};
inline constexpr ignore_bits match_anything{~std::uint64_t{0}};

// Eight bytes that travel with a message and arrive in the receiver's completion, not in its buffer.
struct remote_data : detail::strong<remote_data, std::uint64_t> {
    using strong::strong;
};

// What the caller wants back with the completion. The library never dereferences it.
class token {
  public:
    constexpr token() = default;
    constexpr explicit token(void* p) noexcept : p_(p) {}
    explicit token(std::uintptr_t n) noexcept : p_(reinterpret_cast<void*>(n)) {}
    constexpr void* pointer() const noexcept { return p_; }
    std::uintptr_t number() const noexcept { return reinterpret_cast<std::uintptr_t>(p_); }
    friend constexpr bool operator==(token, token) = default;

  private:
    void* p_ = nullptr;
};

// Ask for no completion on success. A failure is still reported, with a null token.
struct quiet_t {
    explicit quiet_t() = default;
};
inline constexpr quiet_t quiet{};

}  // namespace weft
