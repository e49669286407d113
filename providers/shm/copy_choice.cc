#include "shm/copy_choice.hpp"

#include <algorithm>
#include <bit>

#include "os/cross_memory.hpp"

namespace weft::shm {
namespace {

// Below this a pull's system call and its page look-ups weigh more than any copy; the same everywhere within a factor
// of two, so it is not measured.
constexpr std::uint64_t pull_least = 32u << 10;
// The ways alternate so often before the first choice: the shared area's pages are touched for the first time then,
// which costs more than the copy.
constexpr std::uint32_t trials = 16;
// Then the slower way gets two messages in so many: placement and load change within a second. Costs 1.5 % where it is
// half as fast.
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
    const std::size_t doubling = static_cast<std::size_t>(std::bit_width(size / pull_least)) - 1;
    return classes_[std::min(doubling, size_classes - 1)];
}

bool copy_choice::prefers_pull(std::uint64_t size) noexcept {
    if (permission_.load(std::memory_order_relaxed) == permission::unknown) probe();
    if (permission_.load(std::memory_order_relaxed) == permission::denied) return false;
    if (mode_ == copy_mode::cross_memory) return true;
    if (size < pull_least) return false;
    size_class& c = class_of(size);
    const std::uint32_t n = c.messages.fetch_add(1, std::memory_order_relaxed);
    if (n < trials) return n % 2 == 1;
    const bool faster = c.pull_cost.load(std::memory_order_relaxed) < c.pipeline_cost.load(std::memory_order_relaxed);
    return n % retry_every < retries ? !faster : faster;
}

void copy_choice::record(bool pulled, std::uint64_t size, std::uint64_t ns) noexcept {
    if (size < pull_least) return;
    size_class& c = class_of(size);
    std::atomic<std::uint64_t>& cost = pulled ? c.pull_cost : c.pipeline_cost;
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
    const size_class& c = most_used();
    const std::uint64_t pipeline = c.pipeline_cost.load(std::memory_order_relaxed);
    const std::uint64_t pull = c.pull_cost.load(std::memory_order_relaxed);
    if (can_pull && (mode_ == copy_mode::cross_memory || (pull != 0 && pipeline != 0 && pull < pipeline)))
        return "cross-memory attach";
    return "pipelined copy";
}

}  // namespace weft::shm
