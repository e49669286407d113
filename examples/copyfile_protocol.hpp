// What the two sides of copyfile say to each other.
//
//   sender    offer          name, size, permissions of the next file, or "that was all"
//   receiver  answer         go on, or why not
//   sender    piece ...      the bytes, in order, several under way at a time
//   sender    trailer        how many pieces there were, and the digest of what was read; or that it gave up
//   receiver  answer         the digest of what was written, or why there is none
//
// A receiver that fails in the middle answers at once and takes the pieces still under way without keeping them;
// the sender sees the answer, stops, and says so in a trailer. Messages are plain structs in host order: both sides
// run the same program on the same machine.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include <weft/weft.hpp>

namespace copyfile {

inline constexpr weft::tag offer_tag{1}, answer_tag{2}, piece_tag{3}, trailer_tag{4};

// One mebibyte: long enough for full speed, short enough that writing one does not stop the others for long. Four
// of them under way: one is read or written while others travel.
inline constexpr std::size_t piece_size = 1u << 20;
inline constexpr std::size_t pieces_in_flight = 4;

inline constexpr std::uint64_t magic = 0x31'66'70'63'74'66'65'77;  // "weftcpf1"; another number is another protocol
inline constexpr std::size_t name_max = 255;                       // NAME_MAX of Linux

using digest = std::array<unsigned char, 32>;  // SHA-256

template <std::size_t N>
std::string_view text_in(const std::array<char, N>& a) noexcept {
    return {a.data(), ::strnlen(a.data(), N)};
}
template <std::size_t N>
void set_text(std::array<char, N>& a, std::string_view s) noexcept {
    a.fill(0);
    std::memcpy(a.data(), s.data(), s.size() < N ? s.size() : N - 1);
}

struct offer {
    std::uint64_t magic = copyfile::magic;
    std::uint64_t size = 0;
    std::uint32_t mode = 0;   // permission bits
    std::uint32_t files = 1;  // 0: that was all
    std::array<char, name_max + 1> name{};
};
struct answer {
    std::uint32_t good = 0;
    std::uint32_t reserved = 0;
    digest sum{};                  // of the whole file, in its last answer
    std::array<char, 256> text{};  // why not
};
struct trailer {
    std::uint64_t pieces = 0;
    std::uint32_t complete = 0;
    std::uint32_t reserved = 0;
    digest sum{};
    std::array<char, 256> text{};  // why not complete
};

// All but the pieces are sent with inject.
inline constexpr std::size_t message_max = 512;
static_assert(sizeof(offer) <= message_max && sizeof(answer) <= message_max && sizeof(trailer) <= message_max);

constexpr std::uint64_t pieces_of(std::uint64_t size) noexcept {
    return size / piece_size + (size % piece_size != 0 ? 1 : 0);
}
static_assert(pieces_of(0) == 0 && pieces_of(1) == 1 && pieces_of(piece_size) == 1 && pieces_of(piece_size + 1) == 2);
static_assert(pieces_of((std::uint64_t{5} << 30) + 1) == 5 * 1024 + 1);
// Bytes of piece `number`, the first being 0.
constexpr std::size_t size_of_piece(std::uint64_t size, std::uint64_t number) noexcept {
    const std::uint64_t left = size - number * piece_size;
    return left < piece_size ? static_cast<std::size_t>(left) : piece_size;
}
static_assert(size_of_piece((std::uint64_t{5} << 30) + 1, 5 * 1024) == 1);

// A name that stays in the directory it is put into and cannot confuse a terminal.
constexpr bool is_plain_name(std::string_view name) noexcept {
    if (name.empty() || name.size() > name_max || name == "." || name == "..") return false;
    for (const char c : name)
        if (c == '/' || (c >= 0 && c < ' ') || c == 0x7f) return false;
    return true;
}
static_assert(is_plain_name("report 1.txt") && is_plain_name("..hidden") && is_plain_name("\xc3\xbc"));
static_assert(!is_plain_name("") && !is_plain_name(".") && !is_plain_name("..") && !is_plain_name("../passwd") &&
              !is_plain_name("/etc/passwd") && !is_plain_name("a/b") && !is_plain_name("a\nb") &&
              !is_plain_name(std::string_view("a\0b", 3)));

}  // namespace copyfile
