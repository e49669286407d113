#include "os/cpu.hpp"

#include <sched.h>

#include <cerrno>
#include <cstddef>
#include <memory>
#include <string>

#include "os/error.hpp"

namespace weft::os {
namespace {

struct free_set {
    void operator()(cpu_set_t* set) const noexcept { CPU_FREE(set); }
};
using cpu_set = std::unique_ptr<cpu_set_t, free_set>;

// The kernel refuses a set smaller than its own, whose size it does not tell: start with the C library's 1,024 and
// double. 2^20 is far beyond any kernel's CONFIG_NR_CPUS.
constexpr int cpus_first = 1024;
constexpr int cpus_max = 1 << 20;

}  // namespace

result<std::vector<int>> allowed_cpus() {
    for (int count = cpus_first; count <= cpus_max; count *= 2) {
        const cpu_set set{CPU_ALLOC(static_cast<std::size_t>(count))};
        if (!set) return system_failure(ENOMEM, "read the allowed cores");
        const std::size_t size = CPU_ALLOC_SIZE(static_cast<std::size_t>(count));
        CPU_ZERO_S(size, set.get());
        if (::sched_getaffinity(0, size, set.get()) == 0) {
            std::vector<int> cpus;
            for (int cpu = 0; cpu < count; ++cpu)
                if (CPU_ISSET_S(static_cast<std::size_t>(cpu), size, set.get())) cpus.push_back(cpu);
            return cpus;
        }
        if (errno != EINVAL) break;
    }
    return system_failure(errno, "read the allowed cores");
}

result<void> pin_this_thread(int cpu) { return pin_this_thread(std::vector<int>{cpu}); }

result<void> pin_this_thread(const std::vector<int>& cpus) {
    int highest = cpus_first - 1;
    for (const int cpu : cpus) {
        if (cpu < 0 || cpu >= cpus_max)
            return plain_failure(errc::invalid_argument,
                                 "cannot pin to core " + std::to_string(cpu) + ": no such core");
        if (cpu > highest) highest = cpu;
    }
    const auto count = static_cast<std::size_t>(highest) + 1;
    const cpu_set set{CPU_ALLOC(count)};
    if (!set) return system_failure(ENOMEM, "pin to a core");
    const std::size_t size = CPU_ALLOC_SIZE(count);
    CPU_ZERO_S(size, set.get());
    std::string list;
    for (const int cpu : cpus) {
        CPU_SET_S(static_cast<std::size_t>(cpu), size, set.get());
        if (!list.empty()) list += ',';
        list += std::to_string(cpu);
    }
    if (::sched_setaffinity(0, size, set.get()) == 0) return {};
    const int error = errno;
    return system_failure(error,
                          "pin this thread to cores '" + list + "' (not among those allowed here? see taskset -p)");
}

}  // namespace weft::os
