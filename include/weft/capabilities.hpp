// What an endpoint can do is part of its type; how it does it is chosen at run time by `needs`.
#pragma once
#include <cstdint>

namespace weft {

// A set of abilities. Structural, so that it can be a template argument: endpoint<caps::tagged | caps::msg>.
struct capset {
    std::uint32_t bits = 0;
    constexpr capset operator|(capset o) const noexcept { return {bits | o.bits}; }
    constexpr capset operator&(capset o) const noexcept { return {bits & o.bits}; }
    constexpr capset without(capset o) const noexcept { return {bits & ~o.bits}; }
    constexpr bool has(capset o) const noexcept { return (bits & o.bits) == o.bits; }
    constexpr bool empty() const noexcept { return bits == 0; }
    constexpr bool operator==(const capset&) const = default;
};

namespace caps {
inline constexpr capset none{};
inline constexpr capset msg{1u << 0};      // untagged messages, matched in order
inline constexpr capset tagged{1u << 1};   // messages matched by a 64-bit tag
inline constexpr capset rma{1u << 2};      // one-sided write and read
inline constexpr capset atomics{1u << 3};  // one-sided atomic operations
inline constexpr capset all{0xf};
}  // namespace caps

}  // namespace weft
