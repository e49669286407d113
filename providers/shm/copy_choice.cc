#include "shm/copy_choice.hpp"

#include <algorithm>
#include <bit>

#include "os/cross_memory.hpp"

namespace weft::shm {
using protocol::copy_way;
namespace {

// Below this a pull's system call weighs more than any copy, and what was written is still in a near cache; the same
// everywhere within a factor of two, so it is not measured.
constexpr std::uint64_t measured_least = 32u << 10;
// The ways take turns so often before the first choice: the shared area's pages are touched for the first time then,
// which costs more than the copy.
constexpr std::uint32_t trials = 24;
// Then each of the other ways gets two messages in so many: placement and load change within a second. Costs 3 % where
// they are half as fast.
constexpr std::uint32_t retry_every = 128;
constexpr std::uint32_t retries = 2;

}  // namespace

copy_choice::copy_choice(copy_mode mode, pid_t pid, std::uint64_t probe_address, std::uint64_t probe_value) noexcept
    : mode_(mode),
      pid_(pid),
      probe_address_(probe_address),
      probe_value_(probe_value),
      permission_(pid == 0 || mode == copy_mode::pipeline ? permission::denied : permission::unknown) {}

// Reads the value that the peer keeps at an address it told us: proves that the pid is that process and that the
// kernel lets us.
void copy_choice::probe() noexcept {
    std::uint64_t value = 0;
    const os::cross_memory_result r = os::read_from(pid_, &value, probe_address_, sizeof value);
    permission_.store(r && value == probe_value_ ? permission::granted : permission::denied, std::memory_order_relaxed);
}

copy_choice::size_class& copy_choice::class_of(std::uint64_t size) noexcept {
    const std::size_t doubling = static_cast<std::size_t>(std::bit_width(size / measured_least)) - 1;
    return classes_[std::min(doubling, size_classes - 1)];
}

protocol::copy_way copy_choice::size_class::cheapest() const noexcept {
    std::size_t best = 0;
    for (std::size_t way = 1; way < cost.size(); ++way) {
        const std::uint64_t c = cost[way].load(std::memory_order_relaxed);
        if (c != 0 && c < cost[best].load(std::memory_order_relaxed)) best = way;
    }
    return static_cast<copy_way>(best);
}

copy_way copy_choice::choose(std::uint64_t size, bool can_pull) noexcept {
    if (permission_.load(std::memory_order_relaxed) == permission::unknown) probe();
    can_pull = can_pull && permission_.load(std::memory_order_relaxed) == permission::granted;
    if (mode_ == copy_mode::cross_memory) return can_pull ? copy_way::pull : copy_way::pipeline;
    if (size < measured_least) return copy_way::pipeline;
    size_class& c = class_of(size);
    const std::uint32_t n = c.messages.fetch_add(1, std::memory_order_relaxed);
    const copy_way best = c.cheapest();
    copy_way way = best;
    if (n < trials) {
        way = static_cast<copy_way>(n % protocol::copy_ways);
    } else if (const std::uint32_t turn = n % retry_every / retries; turn < protocol::copy_ways) {
        way = static_cast<copy_way>(turn);
    }
    if (way != copy_way::pull || can_pull) return way;
    return best != copy_way::pull ? best : copy_way::pipeline;
}

void copy_choice::record(copy_way way, std::uint64_t size, std::uint64_t ns) noexcept {
    if (size < measured_least) return;
    std::atomic<std::uint64_t>& cost = class_of(size).cost[static_cast<std::size_t>(way)];
    const std::uint64_t now = ns * 1000 / size + 1;
    const std::uint64_t before = cost.load(std::memory_order_relaxed);
    // Down at once, up slowly: a delay says something about the scheduler, a fast copy about the way.
    cost.store(before == 0 || now < before ? now : before + (now - before) / 8, std::memory_order_relaxed);
}

bool copy_choice::pull(std::byte* to, std::uint64_t from, std::uint64_t n) noexcept {
    if (os::read_from(pid_, to, from, n)) return true;
    permission_.store(permission::denied, std::memory_order_relaxed);
    return false;
}

const copy_choice::size_class& copy_choice::most_used() const noexcept {
    return *std::max_element(classes_.begin(), classes_.end(), [](const size_class& a, const size_class& b) {
        return a.messages.load(std::memory_order_relaxed) < b.messages.load(std::memory_order_relaxed);
    });
}

const char* copy_choice::name() const noexcept {
    const bool can_pull = permission_.load(std::memory_order_relaxed) == permission::granted;
    if (mode_ == copy_mode::cross_memory) return can_pull ? "cross-memory attach" : "pipelined copy";
    switch (most_used().cheapest()) {
        case copy_way::pull: return "cross-memory attach";
        case copy_way::streaming: return "pipelined streaming copy";
        case copy_way::pipeline: break;
    }
    return "pipelined copy";
}

}  // namespace weft::shm
