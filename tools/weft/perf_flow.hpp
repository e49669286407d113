// The client's side of a whole run: size after size, slice after slice, and what is shown meanwhile.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "floor/slices.hpp"
#include "perf_options.hpp"
#include "perf_work.hpp"
#include "report.hpp"

namespace weft::tool {

// How the flow reaches the other side.
struct perf_bench {
    // One slice: see perf_client_session::run.
    std::function<result<double>(const slice_order&, histogram&)> run;
    work_terms terms;
    // Where a floor can be measured.
    partner_link* link = nullptr;
    floor_buffers buffers;
};

// Measures and shows everything; answers the exit status. A failure is said on standard error after the rows that
// were measured before it.
int run_flow(const perf_options& options, perf_setting setting, const perf_bench& bench);

work_terms terms_of(const perf_options& options);

}  // namespace weft::tool
