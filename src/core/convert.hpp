// Between the C++ face's values and the C structs of the boundary.
#pragma once
#include <string>
#include <string_view>

#include <weft/plugin.h>
#include <weft/capabilities.hpp>
#include <weft/needs.hpp>
#include <weft/offer.hpp>
#include <weft/result.hpp>

namespace weft::core {

weft_needs to_c(capset, const needs&) noexcept;

// What a provider passed to the sink; null strings become empty. `provider` is the name we know it by.
offer from_c(const weft_offer&, const std::string& provider);
refusal from_c(const weft_refusal&, const std::string& provider);

// Room for a provider's failure, and its translation: always with a code, and a text that starts with the
// provider's name. `status` counts where the provider did not fill in a code.
weft_failure empty_failure() noexcept;
failure from_c(weft_failure&, weft_status status, std::string_view provider, std::string_view wanted);

// "msg, tagged", or "none".
std::string text_of(capset);

}  // namespace weft::core
