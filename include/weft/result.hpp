// How set-up calls report failure: a value, or a failure whose text is a sentence for a human.
//
// The text says what was wanted, what was found, and which limit or setting changes it. `value()` throws
// std::system_error with that text, for programs that prefer exceptions.
#pragma once
#include <string>
#include <system_error>
#include <utility>
#include <variant>
#include "errc.hpp"
#include "export.hpp"

namespace weft {

WEFT_EXPORT const std::error_category& category() noexcept;
inline std::error_code make_error_code(errc e) noexcept { return {static_cast<int>(e), category()}; }

// Name, text and remedy of a code; for an unknown number a text that says so.
WEFT_EXPORT errc_text describe(errc) noexcept;

struct failure {
    errc code = errc::ok;
    int native = 0;    // errno or the provider's own number; 0 when there is none
    std::string
        text;  // "shm: cannot map 8 MiB for the peer: Cannot allocate memory (RLIMIT_AS is 64 MiB); raise it ..."
};

template <class T>
class [[nodiscard]] result {
  public:
    result(T v) : v_(std::in_place_index<0>, std::move(v)) {}
    result(failure f) : v_(std::in_place_index<1>, std::move(f)) {}

    bool has_value() const noexcept { return v_.index() == 0; }
    explicit operator bool() const noexcept { return has_value(); }

    // Precondition for * and ->: has_value(). For error(): !has_value().
    T& operator*() & noexcept { return *std::get_if<0>(&v_); }
    const T& operator*() const& noexcept { return *std::get_if<0>(&v_); }
    T&& operator*() && noexcept { return std::move(*std::get_if<0>(&v_)); }
    T* operator->() noexcept { return std::get_if<0>(&v_); }
    const T* operator->() const noexcept { return std::get_if<0>(&v_); }
    const failure& error() const& noexcept { return *std::get_if<1>(&v_); }
    failure&& error() && noexcept { return std::move(*std::get_if<1>(&v_)); }

    // The value, or an exception carrying the failure's text.
    T value() && {
        throw_unless_value();
        return std::move(**this);
    }
    T& value() & {
        throw_unless_value();
        return **this;
    }

  private:
    void throw_unless_value() const {
        if (!has_value()) [[unlikely]]
            throw std::system_error(make_error_code(error().code), error().text);
    }
    std::variant<T, failure> v_;
};

// For set-up calls that yield nothing but success.
template <>
class [[nodiscard]] result<void> {
  public:
    result() = default;
    result(failure f) : f_(std::move(f)) {}
    bool has_value() const noexcept { return f_.code == errc::ok; }
    explicit operator bool() const noexcept { return has_value(); }
    const failure& error() const noexcept { return f_; }
    void value() const {
        if (!has_value()) [[unlikely]]
            throw std::system_error(make_error_code(f_.code), f_.text);
    }

  private:
    failure f_;
};

}  // namespace weft

template <>
struct std::is_error_code_enum<weft::errc> : std::true_type {};
