#include "support.hpp"

#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <sstream>

namespace weft::conformance {

// ---- conditions --------------------------------------------------------------------------------------------

// A provider registers here.
static constexpr const char* registered[] = {
    "shm",
};

static constexpr threading levels[] = {threading::one_thread, threading::any_thread};
static constexpr placement places[] = {placement::same_domain, placement::two_domains, placement::self};

std::vector<std::string> providers() {
    const char* chosen = std::getenv("WEFT_CONFORM_PROVIDER");
    if (chosen == nullptr || *chosen == '\0') return {std::begin(registered), std::end(registered)};
    std::vector<std::string> names;
    std::istringstream list(chosen);
    for (std::string one; std::getline(list, one, ',');)
        if (!one.empty()) names.push_back(one);
    return names;
}

static std::vector<conditions> conditions_where(const std::function<bool(const conditions&)>& wanted) {
    std::vector<conditions> list;
    for (const auto& provider : providers())
        for (auto level : levels)
            for (auto place : places)
                if (const conditions c{provider, level, place}; wanted(c)) list.push_back(c);
    return list;
}

std::vector<conditions> every_condition() {
    return conditions_where([](const conditions&) { return true; });
}
std::vector<conditions> every_pair() {
    return conditions_where([](const conditions& c) { return c.place != placement::self; });
}
std::vector<conditions> every_any_thread_pair() {
    return conditions_where(
        [](const conditions& c) { return c.threads == threading::any_thread && c.place != placement::self; });
}
std::vector<conditions> one_per_threading() {
    return conditions_where([](const conditions& c) { return c.place == placement::two_domains; });
}
std::vector<conditions> one_per_provider() {
    return conditions_where(
        [](const conditions& c) { return c.threads == threading::one_thread && c.place == placement::two_domains; });
}

static const char* name(threading t) { return t == threading::one_thread ? "one_thread" : "any_thread"; }
static const char* name(placement p) {
    return p == placement::same_domain ? "same_domain" : p == placement::two_domains ? "two_domains" : "self";
}
const char* name(family f) { return f == family::tagged ? "tagged" : "untagged"; }
std::string name(errc e) { return describe(e).name; }

std::ostream& operator<<(std::ostream& out, const conditions& c) {
    return out << c.provider << ", " << name(c.threads) << ", " << name(c.place);
}

std::string name_of(const testing::TestParamInfo<conditions>& info) {
    std::string text = info.param.provider + "_" + name(info.param.threads) + "_" + name(info.param.place);
    std::replace_if(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
    return text;
}

// ---- patterns ----------------------------------------------------------------------------------------------

// Eight pattern bytes at position 8 * `word` (splitmix64, so that shifted or swapped blocks do not compare equal).
static std::uint64_t pattern_word(std::uint64_t seed, std::size_t word) {
    std::uint64_t z = (seed + 1) * 0x9e3779b97f4a7c15u + word * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

void fill(std::span<std::byte> bytes, std::uint64_t seed) {
    for (std::size_t at = 0; at < bytes.size(); at += 8) {
        const std::uint64_t word = pattern_word(seed, at / 8);
        std::memcpy(bytes.data() + at, &word, std::min<std::size_t>(8, bytes.size() - at));
    }
}

testing::AssertionResult holds(std::span<const std::byte> bytes, std::uint64_t seed) {
    for (std::size_t at = 0; at < bytes.size(); at += 8) {
        const std::uint64_t word = pattern_word(seed, at / 8);
        const std::size_t n = std::min<std::size_t>(8, bytes.size() - at);
        if (std::memcmp(bytes.data() + at, &word, n) == 0) continue;
        std::size_t i = 0;
        std::byte wanted[8];
        std::memcpy(wanted, &word, 8);
        while (bytes[at + i] == wanted[i]) ++i;
        return testing::AssertionFailure()
               << "content differs at byte " << at + i << " of " << bytes.size() << ": wanted "
               << std::to_integer<int>(wanted[i]) << ", found " << std::to_integer<int>(bytes[at + i]);
    }
    return testing::AssertionSuccess();
}

std::vector<std::byte> pattern(std::size_t size, std::uint64_t seed) {
    std::vector<std::byte> bytes(size);
    fill(bytes, seed);
    return bytes;
}

static constexpr std::byte untouched{0xc5};

guarded_buffer::guarded_buffer(std::size_t size) : size_(size), memory_(size + 2 * margin, untouched) {}

testing::AssertionResult guarded_buffer::untouched_beyond(std::size_t used) const {
    for (std::size_t i = 0; i < memory_.size(); ++i) {
        if (i >= margin && i < margin + used) continue;
        if (memory_[i] != untouched)
            return testing::AssertionFailure()
                   << "byte " << static_cast<std::ptrdiff_t>(i) - static_cast<std::ptrdiff_t>(margin)
                   << " of a receive buffer was written although only " << used << " bytes arrived";
    }
    return testing::AssertionSuccess();
}

std::vector<std::size_t> interesting_sizes(const offer& limits) {
    std::vector<std::size_t> sizes{0,        1,
                                   7,        8,
                                   15,       16,
                                   17,       31,
                                   32,       47,
                                   48,       49,
                                   63,       64,
                                   65,       4095,
                                   4096,     4097,
                                   65535,    65536,
                                   65537,    (1u << 20) - 1,
                                   1u << 20, (1u << 20) + 1,
                                   4u << 20};
    for (const std::uint64_t limit : {limits.inline_max, limits.eager_max, limits.inject_size_max})
        for (const std::uint64_t n : {limit - 1, limit, limit + 1})
            if (limit != 0) sizes.push_back(n);
    std::erase_if(sizes, [&](std::size_t n) { return n > largest_message || n > limits.message_size_max; });
    std::sort(sizes.begin(), sizes.end());
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    return sizes;
}

std::vector<std::size_t> one_size_per_protocol(const offer& limits) {
    const std::size_t small = std::min<std::size_t>(8, limits.inline_max);
    const std::size_t medium = (limits.inline_max + limits.eager_max) / 2;
    const std::size_t large = std::min<std::size_t>(limits.eager_max * 3 + 5, limits.message_size_max);
    return {small, medium, large};
}

// ---- ledger ------------------------------------------------------------------------------------------------

completion general(const entry::tokens& e) { return {e.context, e.outcome, e.what, e.flags, 0, {}, {}, {}}; }
completion general(const entry::message& e) {
    return {e.context, e.outcome, e.what, e.flags, e.size, e.source, e.data, {}};
}
completion general(const entry::tagged& e) {
    return {e.context, e.outcome, e.what, e.flags, e.size, e.source, e.data, e.tag};
}

token ledger::open(std::string_view what) {
    const std::lock_guard hold(mutex_);
    records_.push_back({std::string(what), std::nullopt, false});
    ++pending_;
    return token{static_cast<std::uintptr_t>(records_.size())};
}

void ledger::retract(token t) {
    const std::lock_guard hold(mutex_);
    record& r = records_[t.number() - 1];
    if (r.end) {
        ADD_FAILURE() << "the post of " << r.what << " answered try_again or failed, yet it completed with "
                      << r.end->outcome.text();
        return;
    }
    r.retracted = true;
    --pending_;
}

void ledger::take(const completion& c) {
    const std::lock_guard hold(mutex_);
    if (c.context == token{}) {
        EXPECT_FALSE(c.outcome.ok()) << "a completion without a token must be the failure of a quiet operation";
        quiet_failures_.push_back(c);
        return;
    }
    const std::size_t index = c.context.number() - 1;
    if (index >= records_.size()) {
        ADD_FAILURE() << "a completion carries token " << c.context.number() << ", which was never posted";
        return;
    }
    record& r = records_[index];
    if (r.retracted) {
        ADD_FAILURE() << r.what << " was not accepted, yet it completed with " << c.outcome.text();
    } else if (r.end) {
        ADD_FAILURE() << r.what << " completed twice: first " << r.end->outcome.text() << ", then " << c.outcome.text();
    } else {
        r.end = c;
        --pending_;
    }
}

const ledger::record& ledger::at(token t) const {
    if (t.number() == 0 || t.number() > records_.size())
        throw test_failure("the test asked for a token it never posted");
    return records_[t.number() - 1];
}

bool ledger::ended(token t) const {
    const std::lock_guard hold(mutex_);
    return at(t).end.has_value();
}

completion ledger::of(token t) const {
    const std::lock_guard hold(mutex_);
    const record& r = at(t);
    if (!r.end) throw test_failure(r.what + " has not completed");
    return *r.end;
}

std::size_t ledger::pending() const {
    const std::lock_guard hold(mutex_);
    return pending_;
}

std::string ledger::list_pending() const {
    const std::lock_guard hold(mutex_);
    std::string text = std::to_string(pending_) + " pending";
    int named = 0;
    for (const record& r : records_) {
        if (r.end || r.retracted) continue;
        text += (named == 0 ? ": " : ", ") + r.what;
        if (++named == 5) break;  // enough for a reader to know which kind it is
    }
    return text;
}

std::vector<completion> ledger::take_quiet_failures() {
    const std::lock_guard hold(mutex_);
    return std::exchange(quiet_failures_, {});
}

// ---- endpoints ---------------------------------------------------------------------------------------------

needs needs_for(const conditions& c, needs want) {
    want.provider = c.provider;
    want.threads = c.threads;
    return want;
}

domain open_domain(const conditions& c, const options& o) {
    auto fab = fabric::open().value();
    return fab.best(messages, needs_for(c, o.want)).value();
}

side::side(const conditions& c, const domain& in, const options& o) : home(in) {
    queue = home->open_queue<entry::tagged>(o.queue).value();
    ep = home->open<messages>(needs_for(c, o.want), queue).value();
}

harness::~harness() {
    if (!finished_ && std::uncaught_exceptions() == 0) finish();
}

std::size_t harness::poll(side& s, std::size_t room) {
    entry::tagged entries[64];
    const auto got = s.queue.poll(std::span(entries).first(std::min<std::size_t>(room, 64)));
    for (const auto& e : got) book.take(general(e));
    return got.size();
}

std::size_t harness::poll() {
    std::size_t taken = 0;
    for (side* s : sides_) taken += poll(*s);
    return taken;
}

void harness::until(const std::function<bool()>& condition, std::string_view what, int seconds) {
    const deadline end(seconds);
    for (unsigned idle = 0; !condition();) {
        idle = poll() != 0 ? 0 : idle + 1;
        if (idle % 256 != 255) continue;  // the clock and the scheduler are asked now and then only
        if (end.passed())
            throw test_failure("waited " + std::to_string(seconds) + " s in vain for " + std::string(what) + " (" +
                               book.list_pending() + ")");
        sched_yield();
    }
}

void harness::insist(std::string_view what, const std::function<status()>& call) {
    status answer;
    until(
        [&] {
            answer = call();
            return !answer.again();
        },
        what);
    if (!answer.ok()) throw test_failure(std::string(what) + " was refused: " + answer.text());
}

token harness::post(std::string_view what, const std::function<status(token)>& call) {
    const token t = book.open(what);
    try {
        insist(what, [&] { return call(t); });
    } catch (...) {
        book.retract(t);
        throw;
    }
    return t;
}

std::optional<token> harness::attempt(std::string_view what, const std::function<status(token)>& call) {
    const token t = book.open(what);
    const status answer = call(t);
    if (answer.ok()) return t;
    book.retract(t);
    if (!answer.again()) throw test_failure(std::string(what) + " was refused: " + answer.text());
    return std::nullopt;
}

token harness::send(side& from, const_buffer b, family f, tag g) {
    return post("send", [&](token t) {
        return f == family::tagged ? from.ep.send(b, from.other, g, t) : from.ep.send(b, from.other, t);
    });
}

void harness::send_quiet(side& from, const_buffer b, family f, tag g) {
    insist("quiet send", [&] {
        return f == family::tagged ? from.ep.send(b, from.other, g, quiet) : from.ep.send(b, from.other, quiet);
    });
}

void harness::inject(side& from, const_buffer b, family f, tag g) {
    insist("inject",
           [&] { return f == family::tagged ? from.ep.inject(b, from.other, g) : from.ep.inject(b, from.other); });
}

token harness::recv(side& at, buffer b, family f, tag g, ignore_bits i, peer from) {
    return post("receive",
                [&](token t) { return f == family::tagged ? at.ep.recv(b, g, t, i, from) : at.ep.recv(b, t, from); });
}

completion harness::wait(token t) {
    until([&] { return book.ended(t); }, "a completion");
    return book.of(t);
}

completion harness::wait_ok(token t) {
    const completion c = wait(t);
    if (!c.outcome.ok()) throw test_failure(std::string("an operation failed: ") + c.outcome.text());
    return c;
}

void harness::wait_all() {
    until([&] { return book.pending() == 0; }, "all operations to end");
}

void harness::settle(int rounds) {
    for (int i = 0; i < rounds; ++i) poll();
}

void harness::finish() {
    if (finished_) return;
    finished_ = true;
    check_quiet_failures();
    try {
        for (side* s : sides_)
            if (s->ep) {
                EXPECT_TRUE(s->ep.close().ok()) << "close answered an error";
            }
        until([&] { return book.pending() == 0; }, "operations to end after close");
        settle(8);
    } catch (const std::exception& e) {
        ADD_FAILURE() << e.what();
    }
    // A quiet operation may have been under way, even if its receiver was through with it.
    for (const completion& c : book.take_quiet_failures())
        EXPECT_TRUE(c.outcome.code() == errc::canceled || c.outcome.code() == errc::peer_gone) << c.outcome.text();
}

void harness::leave() {
    finished_ = true;
    EXPECT_EQ(book.pending(), 0u) << book.list_pending();
    check_quiet_failures();
}

void harness::check_quiet_failures() {
    for (const completion& c : book.take_quiet_failures())
        ADD_FAILURE() << "a quiet operation failed: " << c.outcome.text();
}

pair_of_endpoints::pair_of_endpoints(const conditions& c, const options& o)
    : harness(c.provider),
      first_(std::make_unique<side>(c, open_domain(c, o), o)),
      second_(c.place == placement::self          ? nullptr
              : c.place == placement::same_domain ? std::make_unique<side>(c, *first_->home, o)
                                                  : std::make_unique<side>(c, open_domain(c, o), o)),
      a(*first_),
      b(second_ ? *second_ : *first_) {
    attend(a);
    if (second_) attend(b);
    a.other = a.home->resolve(b.ep.address_text()).value();
    if (second_ && o.b_resolves_a) b.other = b.home->resolve(a.ep.address_text()).value();
}

pair_of_endpoints::~pair_of_endpoints() {
    if (std::uncaught_exceptions() == 0) finish();
}

}  // namespace weft::conformance
