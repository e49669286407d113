// Which cores this thread may use, and tying it to one.
#pragma once
#include <vector>

#include <weft/result.hpp>

namespace weft::os {

// Cores the calling thread may run on, ascending; what taskset and cpusets left.
result<std::vector<int>> allowed_cpus();

// Ties the calling thread to one core.
result<void> pin_this_thread(int cpu);
// To several; what allowed_cpus() returned restores the state of then.
result<void> pin_this_thread(const std::vector<int>& cpus);

}  // namespace weft::os
