// One process is killed while transfers of all kinds are outstanding: the other's operations each end once.
#include <sys/mman.h>

#include <algorithm>

#include "process.hpp"
#include "support.hpp"

namespace weft::conformance {
namespace {

WEFT_SUITE(killed, one_per_threading());

// The victim: makes contact, leaves large sends and receives outstanding, and goes on polling until it is killed.
void victim(const conditions& c, wire_to_other& line) {
    std::vector<std::byte> large;
    std::byte rooms[20][8];
    side me(c, open_domain(c));
    harness h(c.provider);
    h.attend(me);
    line.say(me.ep.address_text());
    me.other = me.home->resolve(line.hear()).value();
    large = pattern(std::min<std::size_t>(largest_message, me.home->what().message_size_max), 1);
    std::uint64_t hello = 1;
    h.wait_ok(h.recv(me, bytes_of(hello), family::tagged, tag{1}));
    h.inject(me, bytes_of(hello), family::tagged, tag{2});
    for (auto& room : rooms) h.recv(me, buffer{room, 8}, family::tagged, tag{999});
    for (std::uint64_t i = 0; i < 4; ++i) h.send(me, view(large), family::tagged, tag{100 + i});
    line.say("all is outstanding");
    for (;;) h.poll();
}

TEST_P(killed, with_everything_outstanding) {
    const conditions& c = GetParam();
    const belongings before = belongings::now();
    {
        other_process other([&](wire_to_other& line) { victim(c, line); });
        std::vector<std::byte> large, large_room;
        std::byte rooms[8][8];
        side me(c, open_domain(c)), third(c, open_domain(c));
        harness h(c.provider);
        h.attend(me);
        h.attend(third);
        me.other = me.home->resolve(other.line().hear()).value();
        third.other = third.home->resolve(me.ep.address_text()).value();
        other.line().say(me.ep.address_text());
        large = pattern(std::min<std::size_t>(largest_message, me.home->what().message_size_max), 2);
        large_room.resize(large.size());
        std::uint64_t hello = 1;
        h.inject(me, bytes_of(hello), family::tagged, tag{1});
        h.wait_ok(h.recv(me, bytes_of(hello), family::tagged, tag{2}));

        // Sends nobody receives, directed receives nobody serves, and one large receive that is under way.
        std::vector<token> doomed;
        for (std::uint64_t i = 0; i < 6; ++i) doomed.push_back(h.send(me, view(large), family::tagged, tag{500 + i}));
        for (std::uint64_t i = 0; i < 6; ++i) doomed.push_back(h.send(me, view(large), family::untagged));
        for (int i = 0; i < 4; ++i)
            doomed.push_back(h.recv(me, buffer{rooms[i], 8}, family::tagged, tag{7}, match_exactly, me.other));
        doomed.push_back(h.recv(me, buffer{rooms[4], 8}, family::untagged, {}, match_exactly, me.other));
        const token from_anybody = h.recv(me, buffer{rooms[5], 8}, family::tagged, tag{8});
        h.until([&] { return other.line().something_to_hear(); }, "the victim to have posted everything");
        ASSERT_EQ(other.line().hear(), "all is outstanding");
        const token under_way = h.recv(me, buffer{large_room.data(), large_room.size()}, family::tagged, tag{100});
        other.kill();

        for (token t : doomed) EXPECT_EQ(h.wait(t).outcome.code(), errc::peer_gone) << name(h.wait(t).outcome.code());
        const completion cut = h.wait(under_way);
        EXPECT_TRUE(cut.outcome.code() == errc::peer_gone || cut.outcome.ok()) << cut.outcome.text();
        if (cut.outcome.ok()) {
            EXPECT_TRUE(holds(large_room, 1));
        }
        // Later ones fail at the call.
        EXPECT_EQ(me.ep.send(view(large), me.other, tag{1}, token{1}).code(), errc::peer_gone);
        EXPECT_EQ(me.ep.inject(bytes_of(std::as_const(hello)), me.other).code(), errc::peer_gone);
        EXPECT_EQ(me.ep.recv(buffer{rooms[6], 8}, tag{7}, token{1}, match_exactly, me.other).code(), errc::peer_gone);
        // Somebody else is served as before.
        EXPECT_FALSE(h.book.ended(from_anybody));
        const auto sent = pattern(8, 5);
        h.send_quiet(third, view(sent), family::tagged, tag{8});
        h.wait_ok(from_anybody);
        EXPECT_TRUE(holds(rooms[5], 5));
    }
    EXPECT_EQ(before.left_since(), "");
}

// Numbers both processes see; lets the killer strike at a chosen amount of progress instead of after a time.
class shared_counter {
  public:
    shared_counter()
        : value_(static_cast<std::uint64_t*>(
              ::mmap(nullptr, sizeof(std::uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {
        if (value_ == MAP_FAILED) throw test_failure("mmap failed");
    }
    shared_counter(const shared_counter&) = delete;
    shared_counter& operator=(const shared_counter&) = delete;
    ~shared_counter() { ::munmap(value_, sizeof *value_); }
    void step() { __atomic_fetch_add(value_, 1, __ATOMIC_RELAXED); }
    std::uint64_t value() const { return __atomic_load_n(value_, __ATOMIC_RELAXED); }

  private:
    std::uint64_t* value_;
};

// Keeps traffic of every kind going in one direction or both: `window` receives and sends, renewed as they end.
class traffic {
  public:
    traffic(harness& h, side& s, peer source)
        : h_(h), side_(s), source_(source), sizes_(one_size_per_protocol(s.home->what())) {
        for (std::size_t size : sizes_) out_.push_back(pattern(size, size));
        for (auto& room : in_) room.resize(sizes_.back());
    }
    // One round; returns false as soon as the peer is found gone.
    bool step() {
        for (std::size_t i = 0; i < window; ++i) {
            if (!renew(receives_[i], "receive",
                       [&](token t) { return side_.ep.recv(buffer{in_[i].data(), in_[i].size()}, t, source_); }))
                return false;
            if (!renew(sends_[i], "send",
                       [&](token t) { return side_.ep.send(view(out_[turn_++ % out_.size()]), side_.other, t); }))
                return false;
        }
        h_.poll();
        return true;
    }
    std::uint64_t ended() const { return ended_; }

  private:
    static constexpr std::size_t window = 4;
    template <class Call>
    bool renew(std::optional<token>& slot, const char* what, Call call) {
        if (slot && !h_.book.ended(*slot)) return true;
        if (slot) {
            const status outcome = h_.book.of(*slot).outcome;
            slot.reset();
            if (outcome.code() == errc::peer_gone) return false;
            if (!outcome.ok()) throw test_failure(std::string(what) + " ended with " + outcome.text());
            ++ended_;
        }
        const token t = h_.book.open(what);
        const status answer = call(t);
        if (answer.ok()) {
            slot = t;
            return true;
        }
        h_.book.retract(t);
        if (answer.code() == errc::peer_gone) return false;
        if (!answer.again()) throw test_failure(std::string(what) + " was refused: " + answer.text());
        return true;
    }
    harness& h_;
    side& side_;
    peer source_;
    std::vector<std::size_t> sizes_;
    std::vector<std::vector<std::byte>> out_;
    std::vector<std::byte> in_[window];
    std::optional<token> receives_[window], sends_[window];
    std::size_t turn_ = 0;
    std::uint64_t ended_ = 0;
};

TEST_P(killed, in_the_middle_of_traffic) {
    const conditions& c = GetParam();
    const belongings before = belongings::now();
    for (std::uint64_t round = 0; round < (sanitized ? 4 : 12); ++round) {
        SCOPED_TRACE("round " + std::to_string(round));
        shared_counter progress;
        other_process other([&](wire_to_other& line) {
            side me(c, open_domain(c));
            harness h(c.provider);
            h.attend(me);
            line.say(me.ep.address_text());
            me.other = me.home->resolve(line.hear()).value();
            traffic t(h, me, me.other);
            for (std::uint64_t seen = 0; t.step(); seen = t.ended())
                if (t.ended() != seen) progress.step();
            throw test_failure("the survivor was taken for gone");
        });
        side me(c, open_domain(c));
        harness h(c.provider);
        h.attend(me);
        me.other = me.home->resolve(other.line().hear()).value();
        other.line().say(me.ep.address_text());
        {
            traffic t(h, me, me.other);
            bool struck = false;
            for (deadline end; t.step();) {
                if (!struck && progress.value() > 100 + 37 * round) {
                    other.kill();
                    struck = true;
                }
                ASSERT_FALSE(end.passed()) << (struck ? "the death of the peer goes unnoticed" : "there is no traffic")
                                           << ", " << h.book.list_pending();
            }
            ASSERT_TRUE(struck) << "the peer was found gone before it was killed";
            h.wait_all();  // each ends, with peer_gone or because it was through in time
        }
        std::byte byte{};
        EXPECT_EQ(me.ep.inject(const_buffer{&byte, 1}, me.other).code(), errc::peer_gone);
    }
    EXPECT_EQ(before.left_since(), "");
}

// The peer is killed before, or at any moment of, first contact.
TEST_P(killed, around_first_contact) {
    const conditions& c = GetParam();
    const belongings before = belongings::now();
    for (int polls = 0; polls < (sanitized ? 6 : 20); ++polls) {
        SCOPED_TRACE("killed after " + std::to_string(polls) + " polls");
        other_process other([&](wire_to_other& line) {
            side me(c, open_domain(c));
            line.say(me.ep.address_text());
            for (entry::tagged entries[4];;) me.queue.poll(entries);
        });
        std::vector<std::byte> bytes = pattern(64, 1);
        side me(c, open_domain(c));
        harness h(c.provider);
        h.attend(me);
        me.other = me.home->resolve(other.line().hear()).value();
        const token t = h.book.open("send around the peer's death");
        status answer = me.ep.send(view(bytes), me.other, tag{1}, t);
        for (int i = 0; i < polls; ++i) {
            h.poll();
            if (answer.again()) answer = me.ep.send(view(bytes), me.other, tag{1}, t);
        }
        other.kill();
        h.until(
            [&] {
                if (answer.again()) answer = me.ep.send(view(bytes), me.other, tag{1}, t);
                return !answer.again();
            },
            "an answer other than try_again");
        const auto expected = [](errc e) { return e == errc::peer_gone || e == errc::peer_unreachable; };
        if (answer.ok()) {
            const errc outcome = h.wait(t).outcome.code();
            EXPECT_TRUE(expected(outcome) || outcome == errc::ok) << name(outcome);
        } else {
            h.book.retract(t);
            EXPECT_TRUE(expected(answer.code())) << answer.text();
        }
        // From some moment on it is certain.
        status later;
        h.until(
            [&] {
                later = me.ep.inject(const_buffer{bytes.data(), 8}, me.other, tag{1});
                return expected(later.code());
            },
            "sends to the dead peer to fail");
        h.book.take_quiet_failures();
    }
    EXPECT_EQ(before.left_since(), "");
}

}  // namespace
}  // namespace weft::conformance
