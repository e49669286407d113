#include "core/host.hpp"

namespace weft::core {
namespace {

// The C side counts from 0 and has no "off".
bool known(int level) noexcept { return level >= 0 && level < static_cast<int>(log_level::debug); }
log_level from_c(int level) noexcept { return static_cast<log_level>(level + 1); }
const char* or_empty(const char* text) noexcept { return text != nullptr ? text : ""; }
host& of(weft_host* h) noexcept { return *static_cast<host*>(h); }

constexpr weft_host_ops table = {
    sizeof(weft_host_ops),
    [](weft_host* h, int level, const char* subsystem) noexcept -> int {
        return known(level) && of(h).log.enabled(from_c(level), or_empty(subsystem)) ? 1 : 0;
    },
    [](weft_host* h, int level, const char* subsystem, const char* text) noexcept {
        if (known(level)) of(h).log.log(from_c(level), or_empty(subsystem), or_empty(text));
    },
    [](weft_host* h, const char* name) noexcept -> const char* {
        const auto found = of(h).values.find(std::string_view(or_empty(name)));
        return found == of(h).values.end() ? nullptr : found->second.c_str();
    },
    [](weft_host* h) noexcept { of(h).retain(); },
    [](weft_host* h) noexcept { of(h).release(); },
};

}  // namespace

host::host(log_sink sink) : weft_host{&table}, log(std::move(sink)) {}

}  // namespace weft::core
