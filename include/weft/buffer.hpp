// Pieces of memory handed to an operation. A plain span is enough; registration is never required.
//
// A view of registered memory carries a descriptor as well and saves hardware providers a look-up.
#pragma once
#include <cstddef>
#include <span>
#include <type_traits>

namespace weft {

using descriptor = void*;  // provider-private; null means "not registered by the caller"

template <class Byte>
struct basic_buffer;
namespace detail {
template <class T>
inline constexpr bool is_buffer = false;
template <class B>
inline constexpr bool is_buffer<basic_buffer<B>> = true;
}  // namespace detail

// Non-owning. The memory must stay valid until the operation's completion has been polled (for `inject`:
// until the call returns).
template <class Byte>
struct basic_buffer {
    Byte* data = nullptr;
    std::size_t size = 0;  // bytes
    descriptor desc = nullptr;

    constexpr basic_buffer() = default;
    constexpr basic_buffer(Byte* p, std::size_t n, descriptor d = nullptr) noexcept : data(p), size(n), desc(d) {}
    template <class T, std::size_t N>
        requires(std::is_trivially_copyable_v<T> && !detail::is_buffer<std::remove_const_t<T>> &&
                 (std::is_const_v<Byte> || !std::is_const_v<T>))
    basic_buffer(std::span<T, N> s) noexcept : data(reinterpret_cast<Byte*>(s.data())), size(s.size_bytes()) {}
    template <class Other>
        requires(std::is_const_v<Byte> && std::is_same_v<Other, std::byte>)
    constexpr basic_buffer(const basic_buffer<Other>& o) noexcept : data(o.data), size(o.size), desc(o.desc) {}
};
using buffer = basic_buffer<std::byte>;
using const_buffer = basic_buffer<const std::byte>;

// The bytes of one object: `ep.send(bytes_of(header), ...)`.
template <class T>
    requires(std::is_trivially_copyable_v<T> && !std::is_const_v<T>)
buffer bytes_of(T& object) noexcept {
    return {reinterpret_cast<std::byte*>(&object), sizeof(T)};
}
template <class T>
    requires std::is_trivially_copyable_v<T>
const_buffer bytes_of(const T& object) noexcept {
    return {reinterpret_cast<const std::byte*>(&object), sizeof(T)};
}

}  // namespace weft
