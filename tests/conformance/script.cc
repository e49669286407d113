// Random scripts on two endpoints, compared with a reference model.
//
// Per receiver and family, which receive takes which message does not depend on timing: messages match in the
// order they were sent, receives in the order they were posted, and the greedy assignment over both complete lists
// is the only one in which neither a message nor a receive is passed over. A receive that was canceled never took
// part. So the model needs no clock: it is computed once, at the end, from what was accepted.
#include <algorithm>
#include <cstdlib>
#include <random>

#include "support.hpp"

namespace weft::conformance {
namespace {

WEFT_SUITE(script, every_condition());

struct sent_message {
    std::vector<std::byte> bytes;
    std::uint64_t tag = 0;
    std::optional<std::uint64_t> data;
    std::optional<token> posted;  // nothing for quiet and injected ones
};

struct posted_receive {
    std::unique_ptr<guarded_buffer> room;
    std::size_t size = 0;
    std::uint64_t tag = 0, ignore = 0;
    token posted;
    bool directed = false, canceled = false;
    const sent_message* takes = nullptr;  // by the model
};

// Everything of one family that goes to one receiver. Deques: elements do not move, operations point into them.
struct stream {
    std::deque<sent_message> messages;
    std::deque<posted_receive> receives;

    // Fills in `takes`; answers how many messages no receive takes.
    std::size_t assign(family f) {
        for (auto& r : receives) r.takes = nullptr;
        std::size_t left_over = 0;
        for (const auto& m : messages) {
            const auto fits = [&](const posted_receive& r) {
                return r.takes == nullptr && !r.canceled &&
                       (f == family::untagged || ((r.tag ^ m.tag) & ~r.ignore) == 0);
            };
            const auto r = std::find_if(receives.begin(), receives.end(), fits);
            if (r == receives.end())
                ++left_over;
            else
                r->takes = &m;
        }
        return left_over;
    }
};

class play {
  public:
    play(const conditions& c, std::uint64_t seed) : random_(seed), p_(c, with_data()) {
        const offer& limits = p_.limits();
        sizes_ = one_size_per_protocol(limits);
        for (std::uint64_t edge : {limits.inline_max, limits.eager_max}) {
            sizes_.push_back(edge);
            sizes_.push_back(edge + 1);
        }
        for (std::size_t n : {0u, 1u, 8u, 16u, 100u}) sizes_.push_back(n);
    }

    void run(int length) {
        for (int i = 0; i < length; ++i) step();
        drain();
        check();
    }

  private:
    static options with_data() {
        options o;
        o.want.remote_data = true;
        return o;
    }
    std::uint64_t below(std::uint64_t n) { return random_() % n; }
    bool one_in(std::uint64_t n) { return below(n) == 0; }

    side& sender(bool to_b) { return to_b ? p_.a : p_.b; }
    side& receiver(bool to_b) { return to_b ? p_.b : p_.a; }
    // To itself there is only one stream per family, whichever side is meant.
    stream& stream_of(bool to_b, family f) { return streams_[p_.is_self() || to_b][f == family::tagged]; }

    void step() {
        const bool to_b = one_in(2);
        const family f = one_in(3) ? family::untagged : family::tagged;
        switch (below(10)) {
            case 0:
            case 1:
            case 2: return send(to_b, f);
            case 3:
            case 4:
            case 5: return receive(to_b, f, false);
            case 6: return one_in(3) ? cancel(to_b, f) : void();
            case 7: p_.poll(p_.a, 1 + below(4)); return;
            case 8: p_.poll(p_.b, 1 + below(4)); return;
            default: p_.settle(static_cast<int>(below(6)));
        }
    }

    // Three pieces of whatever length, some empty.
    template <class Buffer>
    std::vector<Buffer> pieces_of(decltype(Buffer::data) data, std::size_t size) {
        const std::size_t first = below(size + 1), second = first + below(size - first + 1);
        return {Buffer{data, first}, Buffer{data + first, second - first}, Buffer{data + second, size - second}};
    }

    void send(bool to_b, family f) {
        stream& to = stream_of(to_b, f);
        sent_message& m = to.messages.emplace_back();
        const std::size_t size = sizes_[below(sizes_.size())];
        m.bytes = pattern(size, random_());
        m.tag = below(4);
        side& s = sender(to_b);
        const bool tagged = f == family::tagged;
        const const_buffer whole = view(m.bytes);
        const tag g{m.tag};
        status answer;
        const token t = p_.book.open(tagged ? "tagged send" : "send");
        switch (below(5)) {
            case 0: answer = tagged ? s.ep.send(whole, s.other, g, quiet) : s.ep.send(whole, s.other, quiet); break;
            case 1:
                if (size <= p_.limits().inject_size_max) {
                    std::vector<std::byte> copy = m.bytes;
                    answer = tagged ? s.ep.inject(view(copy), s.other, g) : s.ep.inject(view(copy), s.other);
                    std::fill(copy.begin(), copy.end(), std::byte{0xee});
                    break;
                }
                [[fallthrough]];
            case 2:
                m.posted = t;
                answer = tagged ? s.ep.send(whole, s.other, g, t) : s.ep.send(whole, s.other, t);
                break;
            case 3: {
                m.posted = t;
                const auto pieces = pieces_of<const_buffer>(whole.data, size);
                answer = tagged ? s.ep.send(pieces, s.other, g, t) : s.ep.send(pieces, s.other, t);
                break;
            }
            default:
                m.posted = t;
                m.data = random_();
                answer = tagged ? s.ep.send(whole, s.other, g, t, remote_data{*m.data})
                                : s.ep.send(whole, s.other, t, remote_data{*m.data});
        }
        if (!answer.ok() || !m.posted) p_.book.retract(t);
        if (answer.ok()) return;
        to.messages.pop_back();
        if (!answer.again()) throw test_failure(std::string("a send was refused: ") + answer.text());
    }

    void receive(bool to_b, family f, bool anything) {
        stream& at = stream_of(to_b, f);
        posted_receive& r = at.receives.emplace_back();
        const std::size_t largest = *std::max_element(sizes_.begin(), sizes_.end());
        r.size = anything || !one_in(4) ? largest : sizes_[below(sizes_.size())];
        r.room = std::make_unique<guarded_buffer>(r.size);
        r.tag = below(4);
        r.ignore = anything ? ~std::uint64_t{0} : one_in(3) ? below(4) : 0;
        side& s = receiver(to_b);
        r.directed = one_in(3);
        const peer from = r.directed ? s.other : any_peer;
        const auto post = [&](token t) {
            const buffer whole = r.room->view();
            if (one_in(3)) {
                const auto pieces = pieces_of<buffer>(whole.data, r.size);
                return f == family::tagged ? s.ep.recv(pieces, tag{r.tag}, t, ignore_bits{r.ignore}, from)
                                           : s.ep.recv(pieces, t, from);
            }
            return f == family::tagged ? s.ep.recv(whole, tag{r.tag}, t, ignore_bits{r.ignore}, from)
                                       : s.ep.recv(whole, t, from);
        };
        if (anything) {
            r.posted = p_.post("receive", post);
        } else if (const auto t = p_.attempt("receive", post)) {
            r.posted = *t;
        } else {
            at.receives.pop_back();
        }
    }

    void cancel(bool to_b, family f) {
        auto& receives = stream_of(to_b, f).receives;
        if (receives.empty()) return;
        posted_receive& r = receives[below(receives.size())];
        if (r.canceled) return;
        const status answer = receiver(to_b).ep.cancel(r.posted);
        if (!answer.ok() && answer.code() != errc::no_message)
            throw test_failure(std::string("cancel answered ") + answer.text());
        r.canceled = answer.ok();
    }

    // Takes every message that is left, then ends the receives that are left.
    void drain() {
        for (bool to_b : {true, false})
            for (family f : families) {
                stream& s = stream_of(to_b, f);
                for (std::size_t n = s.assign(f); n > 0; --n) receive(to_b, f, true);
                s.assign(f);
            }
        p_.until(
            [&] {
                for (auto& by_family : streams_)
                    for (auto& s : by_family) {
                        for (auto& m : s.messages)
                            if (m.posted && !p_.book.ended(*m.posted)) return false;
                        for (auto& r : s.receives)
                            if (r.takes != nullptr && !p_.book.ended(r.posted)) return false;
                    }
                return true;
            },
            "the messages that the model says are taken");
        p_.settle(20);
        for (auto& by_family : streams_)
            for (auto& s : by_family)
                for (auto& r : s.receives)
                    ASSERT_FALSE(r.takes == nullptr && !r.canceled && p_.book.ended(r.posted))
                        << "a receive ended although no message is left for it";
        p_.finish();
    }

    void check() {
        for (auto& by_family : streams_)
            for (auto& s : by_family) {
                for (auto& m : s.messages)
                    if (m.posted) {
                        ASSERT_TRUE(p_.book.of(*m.posted).outcome.ok());
                    }
                for (std::size_t i = 0; i < s.receives.size(); ++i) check(s.receives[i], i, &s == &by_family[1]);
            }
    }

    void check(const posted_receive& r, std::size_t index, bool tagged) {
        SCOPED_TRACE((tagged ? "tagged receive " : "untagged receive ") + std::to_string(index));
        const completion e = p_.book.of(r.posted);
        if (r.takes == nullptr) {
            // At the end one side closes before the other, which ends the receives directed at it in another way.
            EXPECT_TRUE(e.outcome.code() == errc::canceled ||
                        (r.directed && !r.canceled && e.outcome.code() == errc::peer_gone))
                << e.outcome.text();
            EXPECT_TRUE(r.room->untouched_beyond(0));
            return;
        }
        const sent_message& m = *r.takes;
        const std::size_t placed = std::min(m.bytes.size(), r.size);
        EXPECT_EQ(e.outcome.code(), m.bytes.size() > r.size ? errc::truncated : errc::ok) << e.outcome.text();
        EXPECT_EQ(e.size, placed);
        EXPECT_EQ((e.flags & entry::has_data) != 0, m.data.has_value());
        if (m.data) {
            EXPECT_EQ(e.data.value, *m.data);
        }
        if (tagged) {
            EXPECT_EQ(e.tag.value, m.tag);
        }
        EXPECT_TRUE(std::equal(m.bytes.begin(), m.bytes.begin() + static_cast<std::ptrdiff_t>(placed),
                               r.room->first(placed).begin()))
            << "the content is not that of the message that was due";
        EXPECT_TRUE(r.room->untouched_beyond(placed));
    }

    std::mt19937_64 random_;
    std::vector<std::size_t> sizes_;
    stream streams_[2][2];  // [to b][tagged]; before the pair, whose closing must not find the buffers gone
    pair_of_endpoints p_;
};

// WEFT_CONFORM_SEED replays one seed.
TEST_P(script, agrees_with_the_model) {
    const char* chosen = std::getenv("WEFT_CONFORM_SEED");
    std::random_device entropy;
    const std::uint64_t base = chosen != nullptr ? std::strtoull(chosen, nullptr, 0) : entropy();
    for (int i = 0; i < (chosen != nullptr ? 1 : script_seeds); ++i) {
        const std::uint64_t seed = base + static_cast<std::uint64_t>(i);
        SCOPED_TRACE("replay with WEFT_CONFORM_SEED=" + std::to_string(seed));
        try {
            play(GetParam(), seed).run(script_length);
        } catch (const std::exception& e) {
            ADD_FAILURE() << e.what();
        }
        if (HasFailure()) return;
    }
}

}  // namespace
}  // namespace weft::conformance
