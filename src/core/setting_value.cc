#include "core/setting_value.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "core/complaints.hpp"
#include "core/limits.hpp"

namespace weft::core {
namespace {

failure wrong(std::string text) { return {errc::invalid_argument, 0, std::move(text)}; }

std::optional<std::uint64_t> parse_count(std::string_view text) {
    std::uint64_t n = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
    return n;
}

struct range {
    std::uint64_t min = 0, max = 0;
};

std::optional<range> parse_range(std::string_view choices) {
    const auto dots = choices.find("..");
    if (dots == choices.npos) return std::nullopt;
    const auto min = parse_size(choices.substr(0, dots)), max = parse_size(choices.substr(dots + 2));
    if (!min || !max || *min > *max) return std::nullopt;
    return range{*min, *max};
}

result<std::string> checked_number(const setting_definition& d, std::string_view value) {
    const auto allowed = parse_range(d.choices);
    if (!allowed) return wrong("has no valid range");
    std::optional<std::uint64_t> n;
    if (d.type == WEFT_SETTING_SIZE) {
        if (auto size = parse_size(value)) n = *size;
    } else {
        n = parse_count(value);
    }
    const char* form = d.type == WEFT_SETTING_SIZE ? "a size (a number, with K, M or G if wanted)" : "a whole number";
    if (!n) return wrong(quoted(value) + " is not " + form + "; allowed is " + d.choices);
    if (*n < allowed->min || *n > allowed->max)
        return wrong(quoted(value) + " is out of range; allowed is " + d.choices);
    return std::to_string(*n);
}

result<std::string> checked_choice(const setting_definition& d, std::string_view value) {
    std::string_view rest = d.choices;
    std::string listed;
    while (!rest.empty()) {
        const auto bar = rest.find('|');
        const std::string_view one = rest.substr(0, bar);
        if (!one.empty() && one == value) return std::string(value);
        listed += (listed.empty() ? "" : ", ") + std::string(one);
        rest = bar == rest.npos ? std::string_view{} : rest.substr(bar + 1);
    }
    return wrong(quoted(value) + " is not one of the choices; allowed are " + listed);
}

result<std::string> checked_text(std::string_view value) {
    if (value.size() > limits::setting_value_bytes)
        return wrong("the value is longer than " + std::to_string(limits::setting_value_bytes) + " bytes");
    const bool clean = std::none_of(value.begin(), value.end(),
                                    [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
    if (!clean) return wrong("the value contains control characters");
    return std::string(value);
}

bool is_setting_name(std::string_view name, std::string_view provider) {
    return name.size() > provider.size() + 1 && name.starts_with(provider) && name[provider.size()] == '_' &&
           name.size() <= 64 &&  // as far as names are compared for suggestions
           std::all_of(name.begin(), name.end(),
                       [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
}

}  // namespace

result<std::uint64_t> parse_size(std::string_view text) {
    int shift = 0;
    if (!text.empty()) {
        switch (text.back()) {
            case 'k':
            case 'K': shift = 10; break;
            case 'm':
            case 'M': shift = 20; break;
            case 'g':
            case 'G': shift = 30; break;
            default: break;
        }
        if (shift != 0) text.remove_suffix(1);
    }
    const auto n = parse_count(text);
    if (!n || *n > UINT64_MAX >> shift) return wrong("not a size");
    return *n << shift;
}

result<std::string> checked_value(const setting_definition& d, std::string_view value) {
    switch (d.type) {
        case WEFT_SETTING_TEXT: return checked_text(value);
        case WEFT_SETTING_CHOICE: return checked_choice(d, value);
        case WEFT_SETTING_SIZE:
        case WEFT_SETTING_COUNT: return checked_number(d, value);
        default: return wrong("has an unknown type");
    }
}

result<setting_definition> checked_definition(const weft_setting& s, std::string_view provider) {
    if (s.name == nullptr || s.initial == nullptr || s.choices == nullptr || s.text == nullptr)
        return wrong("a setting has a null name, initial value, choices or text");
    if (!is_setting_name(s.name, provider))
        return wrong("the name of the setting " + quoted(s.name) + " is not of the form " + std::string(provider) +
                     "_<lower case>");
    setting_definition d{s.name, s.type, s.initial, s.choices, s.text};
    auto initial = checked_value(d, s.initial);
    if (!initial) return wrong("the initial value of the setting " + d.name + " is wrong: " + initial.error().text);
    d.initial = std::move(*initial);
    return d;
}

}  // namespace weft::core
