#include "base/backoff.hpp"

#include <sched.h>

namespace weft::base {

void yield_cpu() noexcept { ::sched_yield(); }

}  // namespace weft::base
