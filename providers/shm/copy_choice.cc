#include "shm/copy_choice.hpp"

#include "os/cross_memory.hpp"

namespace weft::shm {
namespace {

// Below this a pull's system call and its page look-ups weigh more than any copy; the same everywhere within a factor
// of two, so it is not measured.
constexpr std::uint64_t pull_least = 32u << 10;
// Each way is tried twice before the first choice: the first try of either pays for page faults.
constexpr std::uint32_t trials = 4;
// The slower way gets another chance this often: placement and load change.
constexpr std::uint32_t retry_every = 1024;
// A measured message must be long enough for its rate to say something.
constexpr std::uint64_t measured_least = 32u << 10;

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

bool copy_choice::prefers_pull(std::uint64_t size) noexcept {
    if (permission_.load(std::memory_order_relaxed) == permission::unknown) probe();
    if (permission_.load(std::memory_order_relaxed) == permission::denied) return false;
    if (mode_ == copy_mode::cross_memory) return true;
    if (size < pull_least) return false;
    const std::uint32_t n = messages_.fetch_add(1, std::memory_order_relaxed);
    const std::uint64_t pipeline = pipeline_cost_.load(std::memory_order_relaxed);
    const std::uint64_t pull = pull_cost_.load(std::memory_order_relaxed);
    if (n < trials) return n % 2 == 1;
    if (pipeline == 0 || pull == 0) return pull == 0;
    const bool faster = pull < pipeline;
    return n % retry_every == 0 ? !faster : faster;
}

void copy_choice::record(bool pulled, std::uint64_t size, std::uint64_t ns) noexcept {
    if (size < measured_least) return;
    std::atomic<std::uint64_t>& cost = pulled ? pull_cost_ : pipeline_cost_;
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

const char* copy_choice::name() const noexcept {
    const bool can_pull = permission_.load(std::memory_order_relaxed) == permission::granted;
    const std::uint64_t pipeline = pipeline_cost_.load(std::memory_order_relaxed);
    const std::uint64_t pull = pull_cost_.load(std::memory_order_relaxed);
    if (can_pull && (mode_ == copy_mode::cross_memory || (pull != 0 && pipeline != 0 && pull < pipeline)))
        return "cross-memory attach";
    return "pipelined copy";
}

}  // namespace weft::shm
