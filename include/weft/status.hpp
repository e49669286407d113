// The answer of every call on the data path: four bytes in a register, zero is success.
//
// "Try again" is a normal answer there (nothing was started, nothing is lost), so it costs one compare.
// Nothing on the data path throws; `check()` is for programs that prefer exceptions.
#pragma once
#include "errc.hpp"
#include "export.hpp"

namespace weft {

class [[nodiscard]] status {
  public:
    constexpr status() = default;
    constexpr status(errc e) noexcept : code_(e) {}  // implicit: `return errc::try_again;`

    constexpr bool ok() const noexcept { return code_ == errc::ok; }
    constexpr bool again() const noexcept { return code_ == errc::try_again; }
    constexpr explicit operator bool() const noexcept { return ok(); }
    constexpr errc code() const noexcept { return code_; }

    // Throws std::system_error with this code unless ok.
    void check() const {
        if (!ok()) [[unlikely]]
            throw_error(code_);
    }
    // "peer_gone: the peer was there and has died or closed"; static storage.
    const char* text() const noexcept { return text_of(code_); }

    friend constexpr bool operator==(status, status) = default;

  private:
    [[noreturn]] WEFT_EXPORT static void throw_error(errc);
    WEFT_EXPORT static const char* text_of(errc) noexcept;

    errc code_ = errc::ok;
};
static_assert(sizeof(status) == 4);

}  // namespace weft
