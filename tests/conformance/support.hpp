// What every conformance test uses: the conditions a test runs under, endpoints opened for them, and the ledger
// that checks that every posted operation ends exactly once.
//
// Tests see the public API only. A wait that does not come true throws a sentence, which GoogleTest reports as
// the failure; nothing here waits without a deadline.
#pragma once
#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace weft::conformance {

// ---- how much is tested ------------------------------------------------------------------------------------

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

// Sanitized code is 5 to 20 times slower; these keep its run within minutes without losing a case.
inline constexpr std::size_t largest_message = sanitized ? (std::size_t{1} << 20) + 1 : std::size_t{4} << 20;
inline constexpr int script_seeds = sanitized ? 12 : 60;  // per condition; there are six conditions per provider
inline constexpr int script_length = 300;                 // operations per seed
inline constexpr std::size_t flood_messages_max = sanitized ? 400'000 : 4'000'000;
inline constexpr std::size_t flood_bytes_max = std::size_t{1} << 30;
inline constexpr int patience_s = sanitized ? 45 : 20;  // generous: a shared, busy machine must not fail a test

// ---- conditions --------------------------------------------------------------------------------------------

enum class placement : std::uint8_t { same_domain, two_domains, self };

struct conditions {
    std::string provider;
    threading threads = threading::one_thread;
    placement place = placement::same_domain;
};
std::ostream& operator<<(std::ostream&, const conditions&);

// Providers under test: the list in support.cc, or the comma-separated names in WEFT_CONFORM_PROVIDER.
std::vector<std::string> providers();
std::vector<conditions> every_condition();
std::vector<conditions> one_per_provider();          // one_thread, two domains
std::vector<conditions> one_per_threading();         // two domains, every threading level
std::vector<conditions> every_pair();                // every condition whose two endpoints are two
std::vector<conditions> every_any_thread_pair();
std::string name_of(const testing::TestParamInfo<conditions>&);

// Base of all suites.
class over_conditions : public testing::TestWithParam<conditions> {};

#define WEFT_SUITE(suite, which)             \
    class suite : public over_conditions {}; \
    INSTANTIATE_TEST_SUITE_P(conformance, suite, testing::ValuesIn(which), name_of)

// ---- ways to fail ------------------------------------------------------------------------------------------

struct test_failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class deadline {
  public:
    explicit deadline(int seconds = patience_s)
        : end_(std::chrono::steady_clock::now() + std::chrono::seconds(seconds)) {}
    bool passed() const { return std::chrono::steady_clock::now() > end_; }

  private:
    std::chrono::steady_clock::time_point end_;
};

std::string name(errc);

// ---- patterns ----------------------------------------------------------------------------------------------

void fill(std::span<std::byte>, std::uint64_t seed);
// Compares with what `fill` writes for the seed; the failure tells the first byte that differs.
testing::AssertionResult holds(std::span<const std::byte>, std::uint64_t seed);

std::vector<std::byte> pattern(std::size_t size, std::uint64_t seed);
inline const_buffer view(const std::vector<std::byte>& v) { return const_buffer{v.data(), v.size()}; }

// A receive buffer with a margin on both sides, to see whether anything was written that should not have been.
class guarded_buffer {
  public:
    explicit guarded_buffer(std::size_t size);
    buffer view() { return {memory_.data() + margin, size_}; }
    buffer view(std::size_t offset, std::size_t size) { return {memory_.data() + margin + offset, size}; }
    std::span<const std::byte> first(std::size_t n) const { return std::span(memory_).subspan(margin, n); }
    std::span<const std::byte> part(std::size_t at, std::size_t n) const {
        return std::span(memory_).subspan(margin + at, n);
    }
    std::size_t size() const { return size_; }
    // Nothing outside the first `used` bytes has been written.
    testing::AssertionResult untouched_beyond(std::size_t used) const;

  private:
    static constexpr std::size_t margin = 64;  // a cache line, the widest store of a copy loop
    std::size_t size_;
    std::vector<std::byte> memory_;
};

// Sizes where implementations change their ways: powers of two, slots, cache lines, and the provider's own limits.
std::vector<std::size_t> interesting_sizes(const offer&);
// One size for each way of travelling: inline, eager, rendezvous.
std::vector<std::size_t> one_size_per_protocol(const offer&);

// ---- exactly once ------------------------------------------------------------------------------------------

// A completion of any format; members the format lacks are zero.
struct completion {
    token context;
    status outcome;
    op what = op::send;
    std::uint16_t flags = 0;
    std::uint64_t size = 0;
    peer source;
    remote_data data;
    weft::tag tag;
};
completion general(const entry::tokens&);
completion general(const entry::message&);
completion general(const entry::tagged&);

// Gives out tokens and sees to it that each comes back once. Any thread may call.
class ledger {
  public:
    token open(std::string_view what);
    void retract(token);  // the operation was not started after all
    void take(const completion&);

    bool ended(token) const;
    completion of(token) const;  // throws if it has not ended
    std::size_t pending() const;
    std::string list_pending() const;  // the first few, for messages
    // Failures of quiet operations, reported with a null token; the test that expects some takes them.
    std::vector<completion> take_quiet_failures();

  private:
    struct record {
        std::string what;
        std::optional<completion> end;
        bool retracted = false;
    };
    const record& at(token) const;

    mutable std::mutex mutex_;
    std::deque<record> records_;
    std::size_t pending_ = 0;
    std::vector<completion> quiet_failures_;
};

// ---- endpoints ---------------------------------------------------------------------------------------------

inline constexpr capset messages = caps::tagged | caps::msg;
enum class family : std::uint8_t { tagged, untagged };
inline constexpr family families[] = {family::tagged, family::untagged};
const char* name(family);

inline needs needs_of_a_pair() {
    needs n;
    n.message_size_min = largest_message;
    return n;
}

struct options {
    needs want = needs_of_a_pair();
    queue_options queue = {.depth = 4096};
    bool b_resolves_a = true;
};

needs needs_for(const conditions&, needs);
domain open_domain(const conditions&, const options& = {});

// One endpoint with its queue.
struct side {
    std::optional<domain> home;
    completion_queue<entry::tagged> queue;
    endpoint<messages> ep;
    peer other;  // what this side calls its partner

    side() = default;
    side(const conditions&, const domain&, const options& = {});
};

// A set of sides that are polled together and share a ledger. `finish`, which the destructor calls, closes the
// endpoints and checks that every operation ended exactly once. Declare it after the sides it attends to, and
// buffers of operations that are still pending at the end of a test before both.
class harness {
  public:
    explicit harness(std::string provider) : provider_(std::move(provider)) {}
    harness(const harness&) = delete;
    harness& operator=(const harness&) = delete;
    ~harness();

    ledger book;
    void attend(side& s) { sides_.push_back(&s); }

    std::size_t poll();                              // every side once
    std::size_t poll(side& s, std::size_t room = 64);  // one side once
    // Polls every side until it is true; throws "waited ... for `what`" after the deadline.
    void until(const std::function<bool()>& condition, std::string_view what, int seconds = patience_s);

    // Repeats the call while it answers try_again, polling in between.
    void insist(std::string_view what, const std::function<status()>& call);
    token post(std::string_view what, const std::function<status(token)>& call);
    // One attempt: the token if it was accepted, nothing if it answered try_again.
    std::optional<token> attempt(std::string_view what, const std::function<status(token)>& call);

    token send(side& from, const_buffer, family, tag = {});
    void send_quiet(side& from, const_buffer, family, tag = {});
    void inject(side& from, const_buffer, family, tag = {});
    token recv(side& at, buffer, family, tag = {}, ignore_bits = match_exactly, peer from = any_peer);

    completion wait(token);          // whatever the outcome
    completion wait_ok(token);       // throws unless the outcome is ok
    void wait_all();                 // until nothing is pending
    // Polls for a while (a number of rounds, not a time) to give late or second completions a chance to show up.
    void settle(int rounds = 200);
    void finish();
    // Ends without closing the endpoints, which somebody else goes on using; checks what has been posted.
    void leave();

  private:
    void check_quiet_failures();
    std::string provider_;
    std::vector<side*> sides_;
    bool finished_ = false;
};

// Two endpoints placed as the conditions say; for placement::self `a` and `b` are the same one.
class pair_of_endpoints : public harness {
    std::unique_ptr<side> first_, second_;

  public:
    explicit pair_of_endpoints(const conditions&, const options& = {});
    ~pair_of_endpoints();
    const offer& limits() const { return a.home->what(); }
    bool is_self() const { return &a == &b; }

    side& a;
    side& b;
};

}  // namespace weft::conformance
