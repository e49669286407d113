// A report as one file for a browser: no scripts, no links, the charts drawn in it.
#pragma once
#include <span>
#include <string>

#include "report.hpp"
#include "weft/result.hpp"

namespace weft::tool {

result<void> write_html(const std::string& file, const perf_setting& setting, std::span<const perf_row> rows);

}  // namespace weft::tool
