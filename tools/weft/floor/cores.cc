#include "floor/cores.hpp"
#include <sched.h>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace weft::tool {
namespace {

failure refused(const std::string& what, int error) {
    return {errc::system_error, error, what + ": " + std::strerror(error)};
}

// The first number of a list such as "0-3,8": the kernel writes these lists in rising order.
int first_in_list(const std::string& path, int otherwise) {
    std::ifstream file(path);
    int number = 0;
    return file >> number ? number : otherwise;
}

processor describe_processor(int id) {
    const std::string folder = "/sys/devices/system/cpu/cpu" + std::to_string(id);
    processor p{.id = id, .core = first_in_list(folder + "/topology/thread_siblings_list", id), .cache = 0};
    // index3 is the third level; machines without one share at index2.
    p.cache = first_in_list(folder + "/cache/index3/shared_cpu_list",
                            first_in_list(folder + "/cache/index2/shared_cpu_list", 0));
    return p;
}

}  // namespace

result<std::vector<processor>> allowed_processors() {
    // A fixed cpu_set_t holds 1024 processors; larger machines need a larger set or the call fails with EINVAL.
    for (int room = CPU_SETSIZE; room <= 64 * CPU_SETSIZE; room *= 2) {
        const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(room));
        std::vector<unsigned long> bits(bytes / sizeof(unsigned long));
        cpu_set_t* set = reinterpret_cast<cpu_set_t*>(bits.data());
        if (sched_getaffinity(0, bytes, set) != 0) {
            if (errno == EINVAL) continue;
            return refused("cannot ask on which processors this process may run", errno);
        }
        std::vector<processor> allowed;
        for (int id = 0; id < room; ++id) {
            if (CPU_ISSET_S(static_cast<std::size_t>(id), bytes, set)) allowed.push_back(describe_processor(id));
        }
        return allowed;
    }
    return refused("cannot ask on which processors this process may run", EINVAL);
}

core_pair choose_cores(std::span<const processor> allowed) {
    const processor* other_core = nullptr;
    const processor* first = &allowed.front();
    for (std::size_t i = 0; i < allowed.size(); ++i) {
        for (std::size_t j = i + 1; j < allowed.size(); ++j) {
            if (allowed[i].core == allowed[j].core) continue;
            if (allowed[i].cache == allowed[j].cache) return {allowed[i].id, allowed[j].id, {}};
            if (other_core == nullptr) {
                first = &allowed[i];
                other_core = &allowed[j];
            }
        }
    }
    if (other_core != nullptr) {
        return {first->id, other_core->id, "the two processes run on cores that share no cache: no allowed pair does"};
    }
    if (allowed.size() > 1) {
        return {allowed[0].id, allowed[1].id,
                "the two processes run on two threads of one core: only one core is allowed (see taskset, cpuset)"};
    }
    return {first->id, first->id,
            "only one processor is allowed: both processes take turns on it and the figures measure the scheduler; "
            "allow a second one (see taskset, cpuset)"};
}

result<void> pin_to(int processor_id) {
    if (processor_id < 0) return failure{errc::invalid_argument, 0, "a processor number cannot be negative"};
    const std::size_t id = static_cast<std::size_t>(processor_id);
    const std::size_t bytes = CPU_ALLOC_SIZE(id + 1);
    std::vector<unsigned long> bits(bytes / sizeof(unsigned long));
    cpu_set_t* set = reinterpret_cast<cpu_set_t*>(bits.data());
    CPU_SET_S(id, bytes, set);
    if (sched_setaffinity(0, bytes, set) != 0) {
        return refused("cannot pin to processor " + std::to_string(processor_id), errno);
    }
    return {};
}

}  // namespace weft::tool
