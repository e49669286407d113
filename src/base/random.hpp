// Random numbers from the kernel, and the 128-bit identity that names an endpoint, a process or a region.
#pragma once
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <weft/result.hpp>

namespace weft::base {

// A value. All zero means "nobody" and is never generated.
struct identity {
    std::uint64_t high = 0;
    std::uint64_t low = 0;

    constexpr bool operator==(const identity&) const = default;
    constexpr auto operator<=>(const identity&) const = default;
    constexpr explicit operator bool() const noexcept { return (high | low) != 0; }
    // The bits are random already, so a mix of the halves is a good hash.
    constexpr std::size_t hash() const noexcept { return static_cast<std::size_t>(high ^ low); }
};

// 32 lower-case hexadecimal digits.
std::string to_text(const identity& id);
// The inverse. Strict, so that an identity has one spelling: 32 digits, lower case, not all zero.
std::optional<identity> parse_identity(std::string_view text) noexcept;

// From the kernel's generator; they wait only if the machine has just booted.
result<identity> random_identity();
result<std::uint64_t> random_number();

}  // namespace weft::base
