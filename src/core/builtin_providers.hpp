// The providers of this build. The function's source is configured by CMake from builtin_providers.cc.in, one
// entry for each folder under providers/ that is built in; nothing else in the library names a provider.
//
// Each of those folders defines `extern "C" weft_provider weft_provider_<name>;` with static storage.
#pragma once
#include <span>

#include <weft/plugin.h>

namespace weft::core {

std::span<weft_provider* const> builtin_providers() noexcept;

}  // namespace weft::core
