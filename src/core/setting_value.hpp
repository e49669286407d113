// One setting: its definition, and the check of a value against it.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include <weft/plugin.h>
#include <weft/result.hpp>

namespace weft::core {

struct setting_definition {
    std::string name;
    std::uint32_t type = WEFT_SETTING_TEXT;
    std::string initial;
    std::string choices;
    std::string text;
};

// The value in the form providers read ("16K" becomes "16384"), or a failure that says what is allowed.
result<std::string> checked_value(const setting_definition&, std::string_view value);

// A number with an optional suffix K, M or G (powers of 1024). Nothing else: no sign, space, fraction or overflow.
result<std::uint64_t> parse_size(std::string_view text);

// The definition that a provider declared, its initial value in the form of checked_value; or what is wrong with it.
result<setting_definition> checked_definition(const weft_setting&, std::string_view provider);

}  // namespace weft::core
