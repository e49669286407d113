// A bar per size, for the terminal.
#pragma once
#include <span>
#include <string>

#include "report.hpp"

namespace weft::tool {

// Logarithmic, because sizes double and figures spread over decades. Lines end with a newline.
std::string terminal_chart(quantity test, std::span<const perf_row> rows);

}  // namespace weft::tool
