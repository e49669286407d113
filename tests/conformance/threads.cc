// Several threads on the same objects (threading::any_thread), and several one_thread endpoints in one domain.
#include "support.hpp"

#include <sched.h>

#include <atomic>
#include <thread>

namespace weft::conformance {
namespace {

WEFT_SUITE(any_thread, every_any_thread_pair());
WEFT_SUITE(one_thread_each, one_per_threading());

// Runs the bodies in threads of their own; a failure of one stops all and is thrown here.
class crew {
  public:
    void start(std::function<void()> body) {
        threads_.emplace_back([this, body = std::move(body)] {
            try {
                body();
            } catch (const std::exception& e) {
                const std::lock_guard hold(mutex_);
                if (first_failure_.empty()) first_failure_ = e.what();
                failed_ = true;
            }
        });
    }
    bool failed() const { return failed_; }
    void join() {
        for (auto& t : threads_) t.join();
        threads_.clear();
        if (failed_) throw test_failure(first_failure_);
    }
    ~crew() {
        failed_ = true;
        for (auto& t : threads_) t.join();
    }

  private:
    std::mutex mutex_;
    std::string first_failure_;
    std::atomic<bool> failed_ = false;
    std::vector<std::thread> threads_;
};

// Takes what is in the queue into the ledger; any thread.
void take_some(harness& h, side& s) {
    if (h.poll(s, 8) == 0) sched_yield();
}

template <class Call>
token post_and_poll(harness& h, side& s, const crew& all, const char* what, Call call) {
    const token t = h.book.open(what);
    for (deadline end;;) {
        const status answer = call(t);
        if (answer.ok()) return t;
        if (!answer.again() || end.passed() || all.failed()) {
            h.book.retract(t);
            throw test_failure(std::string(what) + " was refused: " + answer.text());
        }
        take_some(h, s);
    }
}

constexpr std::size_t senders = 3;
constexpr std::size_t per_sender = sanitized ? 200 : 2000;

// Several threads send on endpoint a, several receive on endpoint b, several poll each queue.
void many_to_many(const conditions& c, std::size_t pollers) {
    std::vector<std::vector<std::byte>> sent(senders * per_sender);
    std::vector<guarded_buffer> rooms;
    pair_of_endpoints p(c);
    const auto sizes = one_size_per_protocol(p.limits());
    const auto size_of = [&](std::size_t i) { return i % 50 == 0 ? sizes[2] : i % 5 == 0 ? sizes[1] : sizes[0]; };
    for (std::size_t i = 0; i < sent.size(); ++i) {
        sent[i] = pattern(size_of(i), i);
        rooms.emplace_back(size_of(i));
    }
    std::vector<token> receives(sent.size());
    std::atomic<std::size_t> posting = 2 * senders;
    crew all;
    for (std::size_t s = 0; s < senders; ++s) {
        all.start([&, s] {
            for (std::size_t i = s * per_sender; i < (s + 1) * per_sender; ++i)
                post_and_poll(p, p.a, all, "send",
                              [&](token t) { return p.a.ep.send(view(sent[i]), p.a.other, tag{i}, t); });
            --posting;
        });
        all.start([&, s] {
            for (std::size_t i = s * per_sender; i < (s + 1) * per_sender; ++i)
                receives[i] = post_and_poll(p, p.b, all, "receive",
                                            [&](token t) { return p.b.ep.recv(rooms[i].view(), tag{i}, t); });
            --posting;
        });
    }
    for (std::size_t i = 0; i < pollers; ++i)
        for (side* s : {&p.a, &p.b})
            all.start([&, s] {
                for (deadline end; posting != 0 || p.book.pending() != 0; take_some(p, *s)) {
                    if (all.failed()) return;
                    if (end.passed()) throw test_failure("not all operations ended: " + p.book.list_pending());
                }
            });
    all.join();
    for (std::size_t i = 0; i < sent.size(); ++i) {
        const completion e = p.book.of(receives[i]);
        ASSERT_TRUE(e.outcome.ok()) << e.outcome.text();
        ASSERT_EQ(e.tag, tag{i});
        ASSERT_TRUE(holds(rooms[i].first(size_of(i)), i));
    }
}

TEST_P(any_thread, several_send_and_several_poll) { many_to_many(GetParam(), 2); }
TEST_P(any_thread, one_polls_each_queue) { many_to_many(GetParam(), 1); }

// What one thread sends stays in order although others send at the same time.
TEST_P(any_thread, order_of_each_thread_is_kept) {
    constexpr std::size_t total = senders * per_sender;
    std::vector<std::uint64_t> rooms(total);
    pair_of_endpoints p(GetParam());
    std::atomic<std::size_t> posting = senders + 1;
    crew all;
    for (std::uint64_t s = 0; s < senders; ++s)
        all.start([&, s] {
            for (std::uint64_t i = 0; i < per_sender; ++i) {
                const std::uint64_t stamp = s << 32 | i;
                for (deadline end;;) {
                    const status answer = p.a.ep.inject(bytes_of(stamp), p.a.other);
                    if (answer.ok()) break;
                    if (!answer.again() || end.passed() || all.failed())
                        throw test_failure(std::string("inject was refused: ") + answer.text());
                    take_some(p, p.a);
                }
            }
            --posting;
        });
    all.start([&] {
        for (auto& room : rooms)
            post_and_poll(p, p.b, all, "receive", [&](token t) { return p.b.ep.recv(bytes_of(room), t); });
        --posting;
    });
    all.start([&] {
        for (deadline end; posting != 0 || p.book.pending() != 0; take_some(p, p.b)) {
            take_some(p, p.a);
            if (all.failed()) return;
            if (end.passed()) throw test_failure("not all operations ended: " + p.book.list_pending());
        }
    });
    all.join();
    std::vector<std::uint64_t> next(senders, 0);
    for (std::uint64_t stamp : rooms) {
        ASSERT_LT(stamp >> 32, senders);
        ASSERT_EQ(stamp & 0xffffffff, next[stamp >> 32]++) << "thread " << (stamp >> 32);
    }
}

TEST_P(any_thread, cancel_races_with_arrival) {
    std::vector<std::uint64_t> rooms(per_sender);
    pair_of_endpoints p(GetParam());
    std::atomic<bool> done = false;
    std::atomic<std::size_t> sent = 0;
    crew all;
    all.start([&] {
        for (std::uint64_t i = 0; !done;) {
            const status answer = p.a.ep.inject(bytes_of(i), p.a.other, tag{1});
            if (answer.ok())
                i = ++sent;
            else if (!answer.again())
                throw test_failure(std::string("inject was refused: ") + answer.text());
            take_some(p, p.a);
        }
    });
    all.start([&] {
        for (; !done; take_some(p, p.b)) {
        }
    });
    std::size_t taken = 0;
    for (auto& room : rooms) {
        const token r =
            post_and_poll(p, p.b, all, "receive", [&](token t) { return p.b.ep.recv(bytes_of(room), tag{1}, t); });
        const status s = p.b.ep.cancel(r);
        ASSERT_TRUE(s.ok() || s.code() == errc::no_message) << s.text();
        for (deadline end; !p.book.ended(r); sched_yield()) {
            if (end.passed() || all.failed()) throw test_failure("a receive neither completed nor was canceled");
        }
        ASSERT_EQ(p.book.of(r).outcome.code(), s.ok() ? errc::canceled : errc::ok);
        if (!s.ok()) {
            ASSERT_EQ(room, taken++) << "a message was lost or came out of order";
        }
    }
    done = true;
    all.join();
}

TEST_P(any_thread, close_while_others_use_it) {
    for (int round = 0; round < (sanitized ? 5 : 20); ++round) {
        std::vector<std::uint64_t> rooms(senders * 200);
        pair_of_endpoints p(GetParam());
        std::atomic<std::size_t> started = 0;
        crew all;
        for (std::size_t s = 0; s < senders; ++s)
            all.start([&, s] {
                ++started;
                for (std::size_t i = 0; i < 200; ++i) {
                    const token t = p.book.open(i % 2 == 0 ? "receive while the endpoint is being closed"
                                                           : "send while the endpoint is being closed");
                    std::uint64_t& room = rooms[s * 200 + i];
                    const status answer = i % 2 == 0 ? p.a.ep.recv(bytes_of(room), tag{i}, t)
                                                     : p.a.ep.send(bytes_of(std::as_const(room)), p.a.other, tag{i}, t);
                    if (!answer.ok()) p.book.retract(t);
                    if (answer.code() == errc::closed) return;
                    if (!answer.ok() && !answer.again())
                        throw test_failure(std::string("neither accepted nor closed: ") + answer.text());
                    take_some(p, p.a);
                }
            });
        while (started != senders) sched_yield();
        EXPECT_TRUE(p.a.ep.close().ok());
        all.join();
        p.wait_all();
    }
}

// Endpoints of one domain, each with its own queue and thread, do not know of each other.
TEST_P(one_thread_each, in_one_domain) {
    const conditions& c = GetParam();
    const domain home = open_domain(c);
    crew all;
    for (std::uint64_t which = 0; which < 2; ++which)
        all.start([&, which] {
            std::vector<std::byte> sent, room;
            side one(c, home), two(c, home);
            harness h(c.provider);
            h.attend(one);
            h.attend(two);
            one.other = one.home->resolve(two.ep.address_text()).value();
            const auto sizes = one_size_per_protocol(home.what());
            for (std::uint64_t i = 0; i < per_sender / 2; ++i) {
                const std::size_t size = sizes[i % 3];
                sent = pattern(size, which << 32 | i);
                room.assign(size, std::byte{0});
                const token r = h.recv(two, buffer{room.data(), size}, family::tagged, tag{i});
                const token s = h.send(one, view(sent), family::tagged, tag{i});
                h.wait_ok(r);
                h.wait_ok(s);
                if (!holds(room, which << 32 | i)) throw test_failure("wrong content");
            }
        });
    all.join();
}

// Two threads talk to each other, each through its own one_thread endpoint.
TEST_P(one_thread_each, talking_to_each_other) {
    const conditions& c = GetParam();
    const domain home = open_domain(c);
    side sides[2] = {side(c, home), side(c, home)};
    for (int i : {0, 1}) sides[i].other = sides[i].home->resolve(sides[1 - i].ep.address_text()).value();
    std::atomic<int> finished = 0;
    crew all;
    for (std::uint64_t me = 0; me < 2; ++me)
        all.start([&, me] {
            harness h(c.provider);
            h.attend(sides[me]);
            for (std::uint64_t i = 0; i < per_sender; ++i) {
                std::uint64_t room = 0;
                const token r = h.recv(sides[me], bytes_of(room), family::untagged);
                h.inject(sides[me], bytes_of(i), family::untagged);
                h.wait_ok(r);
                if (room != i) throw test_failure("message " + std::to_string(i) + " carries " + std::to_string(room));
            }
            ++finished;
            // The other one may still need this side's progress.
            h.until([&] { return finished == 2 || all.failed(); }, "the other thread");
            h.leave();
        });
    all.join();
}

// The domain's calls may come from any thread at any time.
TEST_P(one_thread_each, resolving_at_the_same_time) {
    const conditions& c = GetParam();
    std::vector<std::unique_ptr<side>> targets;
    for (int i = 0; i < 10; ++i) targets.push_back(std::make_unique<side>(c, open_domain(c)));
    domain home = open_domain(c);
    std::vector<std::vector<peer>> seen(3);
    crew all;
    for (std::size_t t = 0; t < seen.size(); ++t)
        all.start([&, t] {
            domain mine = home;
            for (int round = 0; round < 20; ++round)
                for (auto& target : targets) {
                    const peer p = mine.resolve(target->ep.address_text()).value();
                    if (round == 0) seen[t].push_back(p);
                    if (mine.text_of(p) != target->ep.address_text()) throw test_failure("text_of names somebody else");
                }
        });
    all.join();
    EXPECT_EQ(seen[0], seen[1]);
    EXPECT_EQ(seen[0], seen[2]);
}

}  // namespace
}  // namespace weft::conformance
