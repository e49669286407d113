// Floors over two real processes: the bytes arrive by every way, and no death or silence of the partner hangs anybody.
// No figure is judged, only that there is one.
#include "floor/floor.hpp"
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>
#include "floor/cores.hpp"
#include "floor/probe.hpp"
#include "floor/responder.hpp"
#include "floor/slices.hpp"

namespace weft::tool {
namespace {

constexpr std::size_t room = std::size_t{1} << 20;
constexpr std::uint64_t short_ns = 200'000;
// Arguments of calls to the responder.
constexpr std::uint64_t die = 1;
constexpr std::uint64_t check_pattern = 2;
constexpr std::uint64_t fail = 3;
constexpr std::uint64_t wipe = 4;

std::byte pattern(std::size_t i) { return static_cast<std::byte>(i * 131 + i / 4096 + 7); }

// A responder in a child process, served until it is told otherwise. Waits for it, by its own id, in the end.
class pair {
  public:
    explicit pair(link_settings settings = {}, core_use cores = core_use::shared) {
        // Tests run beside other tests: whoever waits hands the processor over. No figure here is looked at.
        settings.cores = cores;
        auto made = partner_link::create(cycle_clock::calibrate(), settings);
        if (!made) throw std::runtime_error(made.error().text);
        link_ = std::make_unique<partner_link>(std::move(*made));
        const pid_t parent = getpid();
        child_ = fork();
        if (child_ == 0) _exit(respond(parent));
        for (std::size_t i = 0; i < room; ++i) out_[i] = pattern(i);
        link_->adopt(role::initiator, child_);
    }

    ~pair() {
        (void)stop_responder(*link_);
        wait_for_child();
    }

    partner_link& link() { return *link_; }
    floor_buffers buffers() { return {out_, in_}; }
    pid_t child() const { return child_; }

    // -1 when the child was killed by a signal.
    int wait_for_child() {
        if (child_ == 0) return 0;
        int status = 0;
        kill(child_, SIGCONT);
        EXPECT_EQ(waitpid(std::exchange(child_, 0), &status, 0) > 0, true);
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }

    // Whether the responder's incoming buffer begins with `size` bytes of ours. If not, the link ends.
    bool responder_has(std::size_t size) {
        const auto answer = call_responder(*link_, check_pattern | size << 8, [] { return result<double>(0); });
        return answer.has_value();
    }

  private:
    int respond(pid_t parent) {
        link_->adopt(role::responder, parent);
        std::vector<std::byte> out(room);
        std::vector<std::byte> in(room);
        for (std::size_t i = 0; i < room; ++i) out[i] = pattern(i);
        const auto on_call = [&](std::uint64_t argument) -> result<void> {
            switch (argument & 0xff) {
                case die: _exit(7);
                case fail: return failure{errc::canceled, 0, "told to fail"};
                case wipe: std::fill(in.begin(), in.end(), std::byte{0}); return {};
                default: break;
            }
            for (std::size_t i = 0; i < argument >> 8; ++i) {
                if (in[i] != pattern(i)) return failure{errc::protocol_error, 0, "wrong byte"};
            }
            return {};
        };
        return serve(*link_, {out, in}, on_call) ? 0 : 3;
    }

    std::unique_ptr<partner_link> link_;
    std::vector<std::byte> out_ = std::vector<std::byte>(room);
    std::vector<std::byte> in_ = std::vector<std::byte>(room);
    pid_t child_ = 0;
};

TEST(floor, probe_gives_a_time) {
    pair two;
    const auto ns = probe(two.link());
    ASSERT_TRUE(ns) << ns.error().text;
    EXPECT_GT(*ns, 1.0);
}

struct arrival_case {
    quantity what;
    std::size_t size;
    way how;
};

class every_way : public testing::TestWithParam<arrival_case> {};

TEST_P(every_way, brings_all_bytes) {
    const arrival_case c = GetParam();
    pair two;
    if (c.how.how == mechanism::attach) {
        const auto plan = tune(two.link(), two.buffers(), quantity::bandwidth, 65536);
        ASSERT_TRUE(plan) << plan.error().text;
        if (!plan->attach_usable) GTEST_SKIP() << "process_vm_readv: errno " << plan->attach_error;
    }
    const auto nothing = [] { return result<double>(0); };
    ASSERT_TRUE(call_responder(two.link(), wipe, nothing));
    const floor_buffers b = two.buffers();
    std::fill(b.in.begin(), b.in.end(), std::byte{0});
    const auto figure = measure(two.link(), b, {c.what, c.size, c.how, short_ns});
    ASSERT_TRUE(figure) << figure.error().text;
    EXPECT_GT(*figure, 0.0);
    EXPECT_TRUE(two.responder_has(c.size));
    if (c.what != quantity::latency) return;
    for (std::size_t i = 0; i < c.size; ++i) ASSERT_EQ(b.in[i], pattern(i)) << i;
}

constexpr way in_line{.how = mechanism::in_line};
constexpr way ring{.how = mechanism::in_line, .window = 65536};
constexpr way blocks{.how = mechanism::blocks, .block = 16384, .window = 65536};
constexpr way odd_blocks{.how = mechanism::blocks, .block = 1000, .window = 7000};
constexpr way one_block{.how = mechanism::blocks, .block = 4096, .window = 4096};
constexpr way moved{.how = mechanism::blocks, .copy_in = copy_routine::string_move, .block = 4096, .window = 65536};
constexpr way streamed{.how = mechanism::blocks, .copy_in = copy_routine::streaming, .block = 4096, .window = 65536};
constexpr way attach{.how = mechanism::attach};

INSTANTIATE_TEST_SUITE_P(
    floor, every_way,
    testing::Values(arrival_case{quantity::latency, 1, in_line}, arrival_case{quantity::latency, 8, in_line},
                    arrival_case{quantity::latency, 56, in_line}, arrival_case{quantity::latency, 57, in_line},
                    arrival_case{quantity::latency, 1024, in_line}, arrival_case{quantity::latency, 1025, in_line},
                    arrival_case{quantity::latency, 100000, in_line}, arrival_case{quantity::latency, 100, blocks},
                    arrival_case{quantity::latency, 65536, blocks}, arrival_case{quantity::latency, 200001, blocks},
                    arrival_case{quantity::latency, 20001, odd_blocks},
                    arrival_case{quantity::latency, 20001, one_block}, arrival_case{quantity::latency, 20001, streamed},
                    arrival_case{quantity::latency, 20001, moved}, arrival_case{quantity::latency, 65536, attach},
                    arrival_case{quantity::rate, 8, ring}, arrival_case{quantity::rate, 20, ring},
                    arrival_case{quantity::rate, 56, ring}, arrival_case{quantity::rate, 300, ring},
                    arrival_case{quantity::rate, 4096, ring}, arrival_case{quantity::bandwidth, 64, blocks},
                    arrival_case{quantity::bandwidth, 5000, odd_blocks},
                    arrival_case{quantity::bandwidth, 65536, one_block},
                    arrival_case{quantity::bandwidth, room, blocks}, arrival_case{quantity::bandwidth, room, streamed},
                    arrival_case{quantity::bandwidth, room, moved}, arrival_case{quantity::bandwidth, room, attach}));

TEST(floor, tunes_and_samples) {
    pair two;
    for (const auto& [what, size] : {std::pair{quantity::latency, std::size_t{8}},
                                     {quantity::rate, std::size_t{8}},
                                     {quantity::bandwidth, std::size_t{65536}}}) {
        const auto plan = tune(two.link(), two.buffers(), what, size);
        ASSERT_TRUE(plan) << plan.error().text;
        const auto s = sample(two.link(), two.buffers(), *plan, 3 * short_ns);
        ASSERT_TRUE(s) << s.error().text;
        EXPECT_GT(s->copied, 0.0);
        EXPECT_EQ(s->attached > 0, plan->attach_usable);
        EXPECT_FALSE(is_better(what, s->copied, s->best));
    }
}

TEST(floor, runs_in_slices) {
    pair two;
    const floor_plan plan{.what = quantity::latency, .size = 8};
    const auto test = [&](std::uint64_t duration_ns, histogram& times) -> result<double> {
        auto ns = measure(two.link(), two.buffers(), {quantity::latency, 8, {}, duration_ns});
        if (ns) times.record(static_cast<std::uint64_t>(*ns));
        return ns;
    };
    slice_settings settings;
    settings.time_max_ns = 300'000'000;
    settings.duration_ns = short_ns;
    settings.kept_min = 1;
    const auto r = run_slices(slices_over(two.link(), two.buffers(), plan, test), settings);
    ASSERT_TRUE(r) << r.error().text;
    EXPECT_GE(r->slices, 1u);
    EXPECT_EQ(r->times.count(), r->kept);
}

TEST(floor, refuses_what_it_cannot_measure) {
    pair two;
    const auto code = [&](const floor_task& t) {
        const auto figure = measure(two.link(), two.buffers(), t);
        return figure ? errc::ok : figure.error().code;
    };
    EXPECT_EQ(code({quantity::latency, 0, in_line}), errc::invalid_argument);
    EXPECT_EQ(code({quantity::latency, room + 1, blocks}), errc::invalid_argument);
    EXPECT_EQ(code({quantity::rate, rate_size_max + 1, ring}), errc::invalid_argument);
    EXPECT_EQ(code({quantity::rate, 8, {.how = mechanism::in_line, .window = 64}}), errc::invalid_argument);
    EXPECT_EQ(code({quantity::rate, 8, {.how = mechanism::in_line, .window = 1u << 30}}), errc::invalid_argument);
    EXPECT_EQ(code({quantity::bandwidth, 8, in_line}), errc::invalid_argument);
    EXPECT_EQ(code({quantity::bandwidth, 8, {.how = mechanism::blocks, .block = 0, .window = 64}}),
              errc::invalid_argument);
    EXPECT_EQ(code({quantity::bandwidth, 8, {.how = mechanism::blocks, .block = 128, .window = 64}}),
              errc::invalid_argument);
    EXPECT_FALSE(two.link().broken());
    EXPECT_TRUE(probe(two.link())) << "a refused measurement does not disturb the link";
}

TEST(floor, rests_and_counts_preemptions_upwards) {
    pair two({}, core_use::apart);
    ASSERT_TRUE(probe(two.link()));
    const std::uint64_t before = two.link().preemptions();
    ASSERT_TRUE(rest(two.link(), 1'000'000));
    EXPECT_GE(two.link().preemptions(), before);
}

TEST(floor, dead_responder_is_noticed_long_before_the_deadline) {
    pair two(link_settings{.deadline_ns = 600'000'000'000});
    const auto answer = call_responder(two.link(), die, [] { return result<double>(0); });
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, errc::peer_gone);
    EXPECT_TRUE(two.link().broken());
    EXPECT_FALSE(probe(two.link()));
    EXPECT_EQ(two.wait_for_child(), 7) << "the caller can still collect its child";
}

TEST(floor, responder_killed_in_the_middle_is_noticed) {
    pair two(link_settings{.deadline_ns = 600'000'000'000});
    const pid_t victim = two.child();
    ASSERT_TRUE(probe(two.link()));
    const pid_t killer = fork();
    if (killer == 0) {
        // The stream below runs for as long as it takes; nothing depends on when this happens.
        kill(victim, SIGKILL);
        _exit(0);
    }
    const auto figure = measure(two.link(), two.buffers(), {quantity::bandwidth, 65536, blocks, 60'000'000'000});
    ASSERT_FALSE(figure);
    EXPECT_EQ(figure.error().code, errc::peer_gone);
    int status = 0;
    waitpid(killer, &status, 0);
    EXPECT_EQ(two.wait_for_child(), -1);
}

TEST(floor, stopped_responder_runs_into_the_deadline) {
    pair two(link_settings{.deadline_ns = 50'000'000});
    kill(two.child(), SIGSTOP);
    int status = 0;
    ASSERT_EQ(waitpid(two.child(), &status, WUNTRACED), two.child());  // it has really stopped
    const auto ns = probe(two.link());
    ASSERT_FALSE(ns);
    EXPECT_EQ(ns.error().code, errc::timed_out);
    EXPECT_EQ(two.wait_for_child(), 3) << "once continued, the responder sees that the initiator gave up";
}

TEST(floor, failing_call_ends_both) {
    pair two;
    const auto answer = call_responder(two.link(), fail, [] { return result<double>(0); });
    ASSERT_FALSE(answer);
    EXPECT_EQ(two.wait_for_child(), 3);
}

TEST(floor, own_failure_ends_both) {
    pair two;
    const auto answer =
        call_responder(two.link(), wipe, [] { return result<double>(failure{errc::canceled, 0, "own"}); });
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().text, "own");
    EXPECT_EQ(two.wait_for_child(), 3);
}

TEST(floor, orphaned_responder_ends) {
    // A process in between starts a responder and dies at once; the responder's end of the pipe closes when it ends.
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t between = fork();
    if (between == 0) {
        close(ends[0]);
        auto link = partner_link::create(cycle_clock::of_system());
        if (!link) _exit(1);
        const pid_t parent = getpid();
        if (fork() == 0) {
            link->adopt(role::responder, parent);
            std::vector<std::byte> out(room);
            std::vector<std::byte> in(room);
            const auto served = serve(*link, {out, in}, [](std::uint64_t) { return result<void>{}; });
            const char said = !served && served.error().code == errc::peer_gone ? 'g' : '?';
            _exit(write(ends[1], &said, 1) == 1 ? 0 : 1);
        }
        _exit(0);
    }
    close(ends[1]);
    char said = 0;
    EXPECT_EQ(read(ends[0], &said, 1), 1);
    EXPECT_EQ(said, 'g');
    EXPECT_EQ(read(ends[0], &said, 1), 0);
    close(ends[0]);
    int status = 0;
    waitpid(between, &status, 0);
}

TEST(floor, two_processes_on_one_processor_take_turns) {
    const auto allowed = allowed_processors();
    ASSERT_TRUE(allowed);
    // In a child, so that this process stays where it is.
    const pid_t child = fork();
    if (child == 0) {
        if (!pin_to(allowed->front().id)) _exit(1);
        pair two;  // inherits the only processor
        const auto ns = probe(two.link());
        const auto figure = measure(two.link(), two.buffers(), {quantity::bandwidth, 65536, blocks, short_ns});
        _exit(ns && figure && two.link().preemptions() == 0 && stop_responder(two.link()) ? 0 : 2);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0);
}

}  // namespace
}  // namespace weft::tool
