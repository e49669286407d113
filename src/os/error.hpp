// Turns an errno into a failure whose text a person can act on.
//
// "cannot <wanted>: <what the system said> (<the limit that is in the way, with its value>); <what to change>"
#pragma once
#include <string>

#include <weft/result.hpp>

namespace weft::os {

// The code that stands for this errno; errc::system_error for those without one.
errc code_of(int error) noexcept;

// `wanted` completes "cannot ...": "map 8388608 bytes". Adds the current value of the limit behind EMFILE, ENFILE,
// ENOMEM and ENOSPC, and what to do about it. `code` overrides code_of(error).
failure system_failure(int error, std::string wanted);
failure system_failure(errc code, int error, std::string wanted);

// A failure that no system call reported: `text` is the whole sentence.
failure plain_failure(errc code, std::string text);

}  // namespace weft::os
