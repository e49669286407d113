// Log levels and the sink an application can set. The default sink writes to standard error.
#pragma once
#include <cstdint>
#include <functional>
#include <string_view>

namespace weft {

enum class log_level : std::uint8_t { off, error, warning, info, debug };

// May be called from any thread that calls the library, one call at a time per fabric. Must not call back into
// the library. `subsystem` is "core", "settings", "plugin", or a provider's name.
using log_sink = std::function<void(log_level, std::string_view subsystem, std::string_view text)>;

}  // namespace weft
