// Random operation sequences on both lists against plain vectors that are searched from the front.
//
// A failure prints its seed and the script, shortened by leaving out operations while it still fails. To run one
// seed, or more of them: WEFT_MATCH_SEED=<number>, WEFT_MATCH_SEEDS=<how many>.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "match/posted_list.hpp"
#include "match/unexpected_list.hpp"

namespace {

using weft::match::any_source;
using weft::match::posted_list;
using weft::match::posted_receive;
using weft::match::unexpected_link;
using weft::match::unexpected_list;

constexpr std::uint64_t all_bits = ~std::uint64_t{0};

// splitmix64: the same numbers everywhere, which the standard distributions do not promise.
struct random {
    std::uint64_t state;
    std::uint64_t next() {
        std::uint64_t z = state += 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }
    std::uint64_t below(std::uint64_t n) { return next() % n; }
    template <class T>
    const T& of(const std::vector<T>& v) {
        return v[below(v.size())];
    }
};

enum class kind { post, arrive, post_only, arrive_only, find, release, cancel, remove_some, discard, peer_dies, audit };
constexpr const char* kind_names[] = {"post",   "arrive",      "post_only", "arrive_only", "find", "release",
                                      "cancel", "remove_some", "discard",   "peer_dies",   "audit"};

// Means the same whatever came before it: `pick` chooses among what is there. So any part of a script is a script.
struct operation {
    kind what;
    std::uint64_t tag;
    std::uint64_t ignore;
    std::uint64_t source;
    std::uint64_t pick;
};

struct script {
    std::size_t limit;
    std::vector<operation> operations;
};

constexpr std::uint64_t token_count = 7;  // few, so that tokens repeat

script make_script(std::uint64_t seed) {
    random r{seed};
    const std::uint64_t tag_count = r.of<std::uint64_t>({1, 2, 5, 40, 400});
    const std::uint64_t stride =
        r.of<std::uint64_t>({1, 3, 256, 0x10001, std::uint64_t{1} << 32, std::uint64_t{1} << 56});
    const std::uint64_t mask_count = r.of<std::uint64_t>({1, 1, 2, 4, 12, 40});
    const std::uint64_t source_count = r.of<std::uint64_t>({1, 2, 20});
    const std::uint64_t directed_of_10 = r.of<std::uint64_t>({0, 0, 3, 10});
    const std::uint64_t unmasked_of_10 = r.of<std::uint64_t>({0, 5, 9, 10});
    std::vector<std::uint64_t> masks{0};
    while (masks.size() < mask_count) {
        const std::uint64_t width = r.below(9);
        masks.push_back(r.below(8) == 0 ? all_bits : r.below(std::uint64_t{1} << width) * stride);
    }
    std::vector<kind> kinds;
    const auto weigh = [&](kind k, std::uint64_t weight) { kinds.insert(kinds.end(), weight, k); };
    weigh(kind::post, r.of<std::uint64_t>({3, 10, 30}));
    weigh(kind::arrive, r.of<std::uint64_t>({3, 10, 30}));
    weigh(kind::post_only, r.of<std::uint64_t>({0, 10}));
    weigh(kind::arrive_only, r.of<std::uint64_t>({0, 10}));
    weigh(kind::find, 3);
    weigh(kind::release, r.of<std::uint64_t>({5, 20, 40}));
    for (kind k : {kind::cancel, kind::discard, kind::audit}) weigh(k, r.below(3));
    if (r.below(2) == 0) weigh(kind::remove_some, 1);
    if (r.below(2) == 0) weigh(kind::peer_dies, 1);

    script s{r.of<std::size_t>({1, 7, 64, 65, 300, 100000}), {}};
    for (std::uint64_t n = r.of<std::uint64_t>({20, 100, 300, 1000}); n > 0; --n) {
        s.operations.push_back({r.of(kinds), r.below(tag_count) * stride,
                                r.below(10) < unmasked_of_10 ? 0 : r.of(masks),
                                r.below(10) < directed_of_10 ? r.below(source_count) : any_source, r.next()});
    }
    // An arrival's source is drawn when it runs, out of the same set: pick % source_count with 1 in 64 unknown.
    for (operation& o : s.operations)
        if (o.what == kind::arrive || o.what == kind::arrive_only)
            o.source = o.pick % 64 == 0 ? any_source : (o.pick >> 8) % source_count;
    return s;
}

struct message : unexpected_link {
    std::uint64_t number = 0;
};

bool matches(std::uint64_t posted_tag, std::uint64_t ignore, std::uint64_t posted_source, std::uint64_t tag,
             std::uint64_t source) {
    return ((tag ^ posted_tag) & ~ignore) == 0 && (posted_source == any_source || posted_source == source);
}

// Runs a script on the lists and on the model; `error` says where they first differ.
class run {
  public:
    explicit run(const script& s) : limit_(s.limit), list_(s.limit) {
        for (const operation& o : s.operations) {
            step(o);
            check(list_.size() == posted_.size(), "size of the posted list");
            check(list_.empty() == posted_.empty(), "empty() of the posted list");
            check(unexpected_.size() == arrived_.size(), "size of the unexpected list");
            check(unexpected_.empty() == arrived_.empty(), "empty() of the unexpected list");
            if (!error_.empty()) return;
            ++steps_;
        }
        audit();
        // Everything goes back and the whole limit can be posted again.
        list_.remove_if([](const posted_receive&) { return true; }, [&](posted_receive& r) { give_back(&r); });
        for (posted_receive* r : taken_) give_back(r);
        check(list_.empty(), "empty after everything was removed");
    }
    std::optional<std::string> error() const {
        if (error_.empty()) return std::nullopt;
        return "at operation " + std::to_string(steps_) + ": " + error_;
    }

  private:
    struct posted {
        std::uint64_t number;
        std::uint64_t tag;
        std::uint64_t ignore;
        std::uint64_t source;
        posted_receive* record;
    };

    void check(bool fine, const char* what) {
        if (!fine && error_.empty()) error_ = what;
    }
    static void* token_of(std::uint64_t number) { return reinterpret_cast<void*>(number % token_count + 1); }

    void give_back(posted_receive* r) {
        check(out_.erase(r) == 1, "a record came back that was not out");
        list_.release(r);
    }
    // A record left the list: it must be the model's, with all that was written into it.
    void check_removed(posted_receive* r, const posted& p) {
        check(r == p.record, "not the earliest posted receive");
        if (r != p.record) return;
        check(r->size == p.number && r->token == token_of(p.number) && r->tag == p.tag &&
                  r->user == static_cast<std::uint32_t>(p.number) && r->buffer == nullptr &&
                  r->source == static_cast<std::uint32_t>(p.source),
              "contents of a posted receive");
        taken_.push_back(r);
    }

    void post(const operation& o) {
        posted_receive* r = list_.add(o.tag, o.ignore, o.source);
        check((r == nullptr) == (out_.size() >= limit_), "limit");
        if (r == nullptr) return;
        check(out_.insert(r).second, "a record was handed out twice");
        const std::uint64_t number = next_++;
        r->buffer = nullptr;
        r->size = number;
        r->token = token_of(number);
        r->user = static_cast<std::uint32_t>(number);
        posted_.push_back({number, o.tag, o.ignore, o.source, r});
    }
    bool take_unexpected(const operation& o) {
        const auto found = find_arrived(o);
        message* m = unexpected_.take(o.tag, o.ignore, o.source);
        check(m == (found == arrived_.end() ? nullptr : *found), "not the earliest unexpected message");
        if (found == arrived_.end()) return false;
        arrived_.erase(found);
        return true;
    }
    std::vector<message*>::iterator find_arrived(const operation& o) {
        return std::find_if(arrived_.begin(), arrived_.end(),
                            [&](const message* m) { return matches(o.tag, o.ignore, o.source, m->tag, m->source); });
    }
    bool take_posted(const operation& o) {
        const auto found = std::find_if(posted_.begin(), posted_.end(), [&](const posted& p) {
            return matches(p.tag, p.ignore, p.source, o.tag, o.source);
        });
        posted_receive* r = list_.take(o.source, o.tag);
        check((r == nullptr) == (found == posted_.end()), "whether a posted receive matches");
        if (r == nullptr || found == posted_.end()) return false;
        check_removed(r, *found);
        posted_.erase(found);
        return true;
    }
    void arrive(const operation& o) {
        message& m = store_.emplace_back();
        m.number = next_++;
        m.tag = o.tag;
        m.source = o.source;
        unexpected_.add(m);
        arrived_.push_back(&m);
    }
    void cancel(const operation& o) {
        void* const token = token_of(o.pick);
        const auto found =
            std::find_if(posted_.begin(), posted_.end(), [&](const posted& p) { return token_of(p.number) == token; });
        posted_receive* r = list_.cancel(token);
        check((r == nullptr) == (found == posted_.end()), "whether there is something to cancel");
        if (r == nullptr || found == posted_.end()) return;
        check_removed(r, *found);
        posted_.erase(found);
    }
    void remove_some(std::uint64_t pick) {
        const std::uint64_t divisor = pick % 3 + 1;
        const auto chosen = [&](std::uint64_t number) { return number % divisor == 0; };
        std::vector<posted> expected;
        for (const posted& p : posted_)
            if (chosen(p.number)) expected.push_back(p);
        std::erase_if(posted_, [&](const posted& p) { return chosen(p.number); });
        std::size_t i = 0;
        list_.remove_if([&](const posted_receive& r) { return chosen(r.size); },
                        [&](posted_receive& r) {
                            check(i < expected.size(), "removed too many");
                            if (i < expected.size()) check_removed(&r, expected[i++]);
                        });
        check(i == expected.size(), "removed too few");
    }
    void peer_dies(std::uint64_t source) {
        std::vector<message*> expected;
        for (message* m : arrived_)
            if (m->source == source) expected.push_back(m);
        std::erase_if(arrived_, [&](const message* m) { return m->source == source; });
        std::vector<message*> removed;
        unexpected_.remove_source(source, [&](message& m) { removed.push_back(&m); });
        check(removed == expected, "messages of a dead peer");
    }
    void audit() {
        std::set<const posted_receive*> expected;
        std::set<const posted_receive*> found;
        for (const posted& p : posted_) expected.insert(p.record);
        std::size_t count = 0;
        list_.for_each([&](const posted_receive& r) {
            found.insert(&r);
            ++count;
        });
        check(found == expected && count == expected.size(), "for_each of the posted list");
        std::vector<message*> messages;
        unexpected_.for_each([&](message& m) { messages.push_back(&m); });
        check(messages == arrived_, "for_each of the unexpected list");
        check(unexpected_.oldest() == (arrived_.empty() ? nullptr : arrived_.front()), "oldest unexpected message");
    }

    void step(const operation& o) {
        switch (o.what) {
            case kind::post:
                if (!take_unexpected(o)) post(o);
                break;
            case kind::arrive:
                if (!take_posted(o)) arrive(o);
                break;
            case kind::post_only: post(o); break;
            case kind::arrive_only: arrive(o); break;
            case kind::find: {
                const auto found = find_arrived(o);
                check(unexpected_.find(o.tag, o.ignore, o.source) == (found == arrived_.end() ? nullptr : *found),
                      "find of an unexpected message");
                break;
            }
            case kind::release:
                if (taken_.empty()) break;
                std::swap(taken_[o.pick % taken_.size()], taken_.back());
                give_back(taken_.back());
                taken_.pop_back();
                break;
            case kind::cancel: cancel(o); break;
            case kind::remove_some: remove_some(o.pick); break;
            case kind::discard: {
                if (arrived_.empty()) break;
                const auto chosen = arrived_.begin() + static_cast<std::ptrdiff_t>(o.pick % arrived_.size());
                unexpected_.remove(**chosen);
                arrived_.erase(chosen);
                break;
            }
            case kind::peer_dies: peer_dies(o.pick % 3); break;
            case kind::audit: audit(); break;
        }
    }

    std::size_t limit_;
    posted_list list_;
    unexpected_list<message> unexpected_;
    std::deque<message> store_;

    std::vector<posted> posted_;      // in order of posting
    std::vector<message*> arrived_;   // in order of arrival
    std::vector<posted_receive*> taken_;
    std::set<posted_receive*> out_;
    std::uint64_t next_ = 0;
    std::size_t steps_ = 0;
    std::string error_;
};

// Leaves out pieces, large ones first, as long as the rest still fails.
script shrink(script s) {
    for (std::size_t piece = s.operations.size() / 2; piece > 0; piece /= 2) {
        for (std::size_t at = 0; at < s.operations.size();) {
            script shorter = s;
            const auto from = shorter.operations.begin() + static_cast<std::ptrdiff_t>(at);
            const std::size_t length = std::min(piece, s.operations.size() - at);
            shorter.operations.erase(from, from + static_cast<std::ptrdiff_t>(length));
            if (run(shorter).error())
                s = std::move(shorter);
            else
                at += piece;
        }
    }
    return s;
}

std::string text(const script& s) {
    std::ostringstream out;
    out << "limit " << s.limit << std::hex << '\n';
    for (const operation& o : s.operations)
        out << kind_names[static_cast<int>(o.what)] << " tag " << o.tag << " ignore " << o.ignore << " source "
            << o.source << " pick " << o.pick << '\n';
    return out.str();
}

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
    const char* value = std::getenv(name);
    return value == nullptr ? otherwise : std::strtoull(value, nullptr, 0);
}

TEST(MatchModel, RandomScriptsAgreeWithVectors) {
    const std::uint64_t only = from_environment("WEFT_MATCH_SEED", 0);
    const std::uint64_t count = only != 0 ? 1 : from_environment("WEFT_MATCH_SEEDS", 4000);
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint64_t seed = only != 0 ? only : i + 1;
        const script s = make_script(seed);
        if (!run(s).error()) continue;
        const script shorter = shrink(s);
        FAIL() << "WEFT_MATCH_SEED=" << seed << ": " << *run(shorter).error() << '\n' << text(shorter);
    }
}

// Nothing else would notice a model test that compares nothing.
TEST(MatchModel, ScriptsReachEveryOperation) {
    std::set<kind> seen;
    for (std::uint64_t seed = 1; seed < 50; ++seed)
        for (const operation& o : make_script(seed).operations) seen.insert(o.what);
    EXPECT_EQ(seen.size(), std::size(kind_names));
}

}  // namespace
