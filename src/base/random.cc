#include "base/random.hpp"

#include <sys/random.h>

#include <cerrno>
#include <system_error>

namespace weft::base {
namespace {

constexpr char digits[] = "0123456789abcdef";
constexpr std::size_t digits_per_half = 16;

void append_hex(std::string& text, std::uint64_t number) {
    for (int shift = 60; shift >= 0; shift -= 4) text += digits[number >> shift & 0xf];
}

std::optional<std::uint64_t> parse_half(std::string_view text) noexcept {
    std::uint64_t number = 0;
    for (const char c : text) {
        std::uint64_t digit = 0;
        if (c >= '0' && c <= '9')
            digit = static_cast<std::uint64_t>(c - '0');
        else if (c >= 'a' && c <= 'f')
            digit = static_cast<std::uint64_t>(c - 'a') + 10;
        else
            return std::nullopt;
        number = number << 4 | digit;
    }
    return number;
}

// Requests of up to 256 bytes are answered whole once the generator is seeded; before, a signal may interrupt.
result<void> fill(void* room, std::size_t size) {
    for (;;) {
        const ssize_t got = ::getrandom(room, size, 0);
        if (got == static_cast<ssize_t>(size)) return {};
        if (got < 0 && errno != EINTR) {
            const int error = errno;
            return failure{errc::system_error, error,
                           "cannot get random numbers from the kernel: " + std::generic_category().message(error) +
                               "; allow the system call getrandom"};
        }
    }
}

}  // namespace

std::string to_text(const identity& id) {
    std::string text;
    text.reserve(2 * digits_per_half);
    append_hex(text, id.high);
    append_hex(text, id.low);
    return text;
}

std::optional<identity> parse_identity(std::string_view text) noexcept {
    if (text.size() != 2 * digits_per_half) return std::nullopt;
    const auto high = parse_half(text.substr(0, digits_per_half));
    const auto low = parse_half(text.substr(digits_per_half));
    if (!high || !low) return std::nullopt;
    const identity id{*high, *low};
    if (!id) return std::nullopt;
    return id;
}

result<identity> random_identity() {
    identity id;
    do {
        if (auto filled = fill(&id, sizeof id); !filled) return filled.error();
    } while (!id);
    return id;
}

result<std::uint64_t> random_number() {
    std::uint64_t number = 0;
    if (auto filled = fill(&number, sizeof number); !filled) return filled.error();
    return number;
}

}  // namespace weft::base
