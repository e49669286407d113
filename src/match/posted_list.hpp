// Posted receives: finds, for an arriving message, the receive that was posted earliest among all that match it.
//
// Tuple-space search. Receives that ignore the same tag bits and agree on naming or not naming their source form a
// class; within a class a match is an equality of keys, so each class is a hash table. Nearly all programs use one
// class, "any source, no bit ignored": it is embedded, and while it is the only one in use neither add() nor take()
// makes a call. Several classes are compared by the sequence numbers of their candidates.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "base/assert.hpp"
#include "base/hash.hpp"

namespace weft::match {

// A receive that takes from any source; also what an arrival from an unknown source carries.
inline constexpr std::uint64_t any_source = ~std::uint64_t{0};
// The largest index of a peer. Four thousand million peers do not fit into memory, and half a word saved here is what
// keeps a posted receive in one cache line.
inline constexpr std::uint64_t source_max = 0xffff'fffe;

// One cache line. The caller fills in the first four members after posted_list::add(); the rest is the list's. The
// ignored bits are not here: they are a property of the class.
struct alignas(64) posted_receive {
    std::byte* buffer;
    std::uint64_t size;
    void* token;
    std::uint32_t user;    // free for the owner: flags, or the index of a gather list
    std::uint32_t source;  // the peer's index, or any_source cut to 32 bits
    std::uint64_t tag;

    bool takes_any_source() const noexcept { return source == static_cast<std::uint32_t>(any_source); }

    // Receives with equal keys form a ring in order of posting. The newest stands for the ring in its bucket (`chain`
    // leads to the next ring there) and `next` leads from it to the oldest: both ends with one link, and any number
    // of receives with one key never lengthens a bucket.
    posted_receive* next;  // also links the pool
    // Order of posting. 64 bits do not wrap: at a thousand million posts a second they last 584 years. It stands
    // between the links so that the compiler does not copy both with one wide load, which would have to wait for the
    // two narrow stores of the post before.
    std::uint64_t sequence;
    union {
        posted_receive* chain;  // in a class, newest of a ring only
        std::uint64_t ignore;  // in the overflow list
    };
};
static_assert(sizeof(posted_receive) == 64 && std::is_trivial_v<posted_receive>);

namespace detail {

// Hash table of rings of posted receives. Never empty of buckets: the first one is inside, so that no lookup needs a
// test and a failed allocation only makes a table slow.
struct ring_table {
    posted_receive** buckets = &first;
    std::uint64_t mask = 0;  // of offsets in bytes, (number of buckets - 1) * 8: saves the scaling in each lookup
    posted_receive* first = nullptr;
    std::unique_ptr<posted_receive*[]> storage;

    ring_table() = default;
    ring_table(const ring_table&) = delete;
    ring_table& operator=(const ring_table&) = delete;

    std::uint64_t size() const noexcept { return mask / sizeof(posted_receive*) + 1; }
    posted_receive** bucket(std::uint64_t hash) const noexcept {
        return reinterpret_cast<posted_receive**>(reinterpret_cast<std::byte*>(buckets) + (hash & mask));
    }

    // `link` is what find() answered for the key of `r`.
    static void append(posted_receive** link, posted_receive* r) noexcept {
        posted_receive* const newest = *link;
        if (newest == nullptr) return start(link, r);
        r->next = newest->next;
        r->chain = newest->chain;
        newest->next = r;
        *link = r;
    }
    // A ring of one at the end of a bucket.
    static void start(posted_receive** link, posted_receive* r) noexcept {
        r->next = r;
        r->chain = nullptr;
        *link = r;
    }
    // Removes the oldest of the ring at `link`.
    static posted_receive* pop(posted_receive** link) noexcept {
        posted_receive* const newest = *link;
        posted_receive* const oldest = newest->next;
        if (oldest == newest)
            *link = newest->chain;
        else
            newest->next = oldest->next;
        return oldest;
    }
};

// Which bits of an arrival count, and the receives for which just these count.
struct receive_class {
    std::uint64_t keep = ~std::uint64_t{0};  // complement of the ignored bits
    std::uint32_t source_mask = 0;  // all ones where the source is named
    std::uint32_t bit = 0;  // of posted_list::live_
    // Neither is kept for the plain class, whose table grows with the pool.
    std::uint32_t count = 0;
    std::uint32_t full = 0;  // count at which the table wants to be larger
    ring_table table;

    std::uint64_t hash(std::uint32_t source, std::uint64_t tag) const noexcept {
        return base::hash_pair(tag & keep, source & source_mask);
    }
    bool equal(const posted_receive& r, std::uint32_t source, std::uint64_t tag) const noexcept {
        return (((r.tag ^ tag) & keep) | ((r.source ^ source) & source_mask)) == 0;
    }
    // The link that holds the ring of this key, or the null link at the end of its bucket.
    posted_receive** find(std::uint32_t source, std::uint64_t tag) const noexcept {
        posted_receive** link = table.bucket(hash(source, tag));
        while (*link != nullptr && !equal(**link, source, tag)) link = &(*link)->chain;
        return link;
    }
    // Without memory the table stays as it is.
    void grow(std::uint64_t buckets_wanted) noexcept;
};

}  // namespace detail

// Not thread-safe: it lives under its owner's lock. Records come from a pool inside that grows by chunks, never moves
// and never shrinks, so that a list which has seen its largest load allocates nothing.
class posted_list {
  public:
    // At most `limit` receives are out (posted, or taken and not yet released) at a time; cut to what 32-bit counters
    // hold, 256 GiB of receives. Allocates nothing yet.
    explicit posted_list(std::size_t limit) noexcept : limit_(limit < ~std::uint32_t{0} ? limit : ~std::uint32_t{0}) {}
    posted_list(const posted_list&) = delete;
    posted_list& operator=(const posted_list&) = delete;
    ~posted_list();

    // Posts a receive; the caller fills in buffer, size, token and user. Null when the limit is reached or there is
    // no memory. `source` is any_source or at most source_max. Always inline, like take(): where masks or sources are
    // constant, so that they fold, and because the compiler's own judgement counts the rare paths too.
    [[gnu::always_inline]] inline posted_receive* add(std::uint64_t tag, std::uint64_t ignore,
                                                      std::uint64_t source) noexcept {
        WEFT_ASSERT(source <= source_max || source == any_source);
        posted_receive* const r = free_;
        if (r == nullptr) [[unlikely]]
            return add_growing(tag, ignore, source);
        if ((ignore | ~source) != 0) return add_classed(tag, ignore, source);  // source != any_source, in one test
        free_ = r->next;
        r->sequence = sequence_++;
        r->tag = tag;
        r->source = static_cast<std::uint32_t>(any_source);
        posted_receive** link = plain_.table.bucket(base::hash_key(tag));
        if (*link == nullptr) [[likely]] {
            detail::ring_table::start(link, r);
        } else {
            while (*link != nullptr && (*link)->tag != tag) link = &(*link)->chain;
            detail::ring_table::append(link, r);
        }
        return r;
    }

    // The earliest posted receive that matches, removed from the list, or null. It stays valid until release().
    // `source` is any_source (unknown: matches only receives from any source) or at most source_max.
    [[gnu::always_inline]] inline posted_receive* take(std::uint64_t source, std::uint64_t tag) noexcept {
        WEFT_ASSERT(source <= source_max || source == any_source);
        if (live_ != 0) return take_classed(static_cast<std::uint32_t>(source), tag);
        posted_receive** const link = find_plain(tag);
        if (*link == nullptr) return nullptr;
        ++taken_;
        return detail::ring_table::pop(link);
    }

    // The parts of add() and take() for receives from any source that ignore no bit, while there are no others: for a
    // caller whose code must stay free of calls. All answer null when it is another case, and nothing has changed.
    [[gnu::always_inline]] inline posted_receive* add_plain(std::uint64_t tag) noexcept {
        posted_receive* const r = free_;
        if (r == nullptr) [[unlikely]]
            return nullptr;
        free_ = r->next;
        r->sequence = sequence_++;
        r->tag = tag;
        r->source = static_cast<std::uint32_t>(any_source);
        posted_receive** link = plain_.table.bucket(base::hash_key(tag));
        if (*link == nullptr) [[likely]] {
            detail::ring_table::start(link, r);
        } else {
            while (*link != nullptr && (*link)->tag != tag) link = &(*link)->chain;
            detail::ring_table::append(link, r);
        }
        return r;
    }
    [[gnu::always_inline]] inline posted_receive** find_only_plain(std::uint64_t tag) const noexcept {
        if (live_ != 0) [[unlikely]]
            return nullptr;
        posted_receive** const link = find_plain(tag);
        return *link == nullptr ? nullptr : link;
    }
    // The receive that a link found so leads to, and its removal.
    static posted_receive* at(posted_receive** link) noexcept { return (*link)->next; }
    void take_at(posted_receive** link) noexcept {
        ++taken_;
        (void)detail::ring_table::pop(link);
    }

    // Gives back what take(), cancel() or remove_if() handed out. The record may be reused by the next add().
    void release(posted_receive* r) noexcept {
        r->next = free_;
        free_ = r;
    }

    // Posted now; taken ones do not count.
    std::size_t size() const noexcept { return static_cast<std::size_t>(sequence_ - taken_); }
    bool empty() const noexcept { return sequence_ == taken_; }
    std::size_t limit() const noexcept { return limit_; }

    // Everything below is for cancel, close, death of a peer and inspection: time in proportion to the list.

    // Allocates ahead for `count` receives (at most the limit). False if there was no memory.
    [[nodiscard]] bool reserve(std::size_t count) noexcept;

    // Removes the earliest posted receive with this token, or answers null.
    posted_receive* cancel(const void* token) noexcept;

    // Removes each receive for which `chosen(const posted_receive&)` holds and passes it, in order of posting, to
    // `consume(posted_receive&)`, which sees to its release. `consume` may post and take.
    template <class Chosen, class Consume>
    void remove_if(Chosen&& chosen, Consume&& consume) noexcept {
        posted_receive* r = detach(
            [](void* context, const posted_receive& candidate) noexcept -> bool {
                return (*static_cast<std::remove_reference_t<Chosen>*>(context))(candidate);
            },
            erase_type(chosen));
        while (r != nullptr) {
            posted_receive* const next = r->next;  // read first: release() uses the link
            consume(*r);
            r = next;
        }
    }

    // Calls `visit(const posted_receive&)` for each, in no particular order. `visit` must leave the list alone.
    template <class Visit>
    void for_each(Visit&& visit) const noexcept {
        walk([](void* context,
                const posted_receive& r) noexcept { (*static_cast<std::remove_reference_t<Visit>*>(context))(r); },
             erase_type(visit));
    }

  private:
    // Programs use one to three masks. Sixteen tables are looked at in less time than it takes to scan a list of any
    // length, and their bits and the one of the overflow list fit a word.
    static constexpr unsigned classes_max = 16;
    static constexpr std::uint64_t overflow_bit = std::uint64_t{1} << classes_max;
    // 4 KiB of receives at first; every further chunk doubles the pool, so 48 reach beyond any address space.
    static constexpr std::size_t chunk_first = 64;
    static constexpr std::size_t chunks_max = 48;

    using predicate = bool (*)(void*, const posted_receive&) noexcept;
    using visitor = void (*)(void*, const posted_receive&) noexcept;

    template <class F>
    static void* erase_type(F& f) noexcept {
        return const_cast<void*>(static_cast<const void*>(std::addressof(f)));
    }

    posted_receive** find_plain(std::uint64_t tag) const noexcept {
        posted_receive** link = plain_.table.bucket(base::hash_key(tag));
        while (*link != nullptr && (*link)->tag != tag) link = &(*link)->chain;
        return link;
    }

    // Each does the whole operation, so that the inline paths end in a jump and keep their registers.
    [[gnu::cold]] posted_receive* add_growing(std::uint64_t tag, std::uint64_t ignore, std::uint64_t source) noexcept;
    // The first of a pair is the case of one class that is not the plain one, the second is any case.
    posted_receive* add_classed(std::uint64_t tag, std::uint64_t ignore, std::uint64_t source) noexcept;
    posted_receive* add_other_class(std::uint64_t tag, std::uint64_t ignore, std::uint64_t source) noexcept;
    posted_receive* take_classed(std::uint32_t source, std::uint64_t tag) noexcept;
    posted_receive* take_earliest(std::uint32_t source, std::uint64_t tag) noexcept;

    bool grow() noexcept;
    posted_receive* next_record(std::uint64_t tag, std::uint32_t source) noexcept;
    posted_receive* add_to(detail::receive_class& c, std::uint64_t tag, std::uint32_t source) noexcept;
    posted_receive* take_from(detail::receive_class& c, posted_receive** link) noexcept;
    detail::receive_class* class_for(std::uint64_t keep, std::uint32_t source_mask) noexcept;
    posted_receive* detach(predicate chosen, void* context) noexcept;
    void walk(visitor visit, void* context) const noexcept;

    // Hot: the first cache line is all that the plain path reads and writes of the list itself.
    posted_receive* free_ = nullptr;
    std::uint64_t sequence_ = 0;  // receives posted so far
    std::uint64_t taken_ = 0;  // receives removed so far; the difference is the size, which saves a counter in add()
    std::uint64_t live_ = 0;  // bit i: classes_[i] has receives; overflow_bit: the overflow list has
    // At least as many buckets as the pool has records: it grows with the pool, and add() has nothing to test.
    detail::receive_class plain_;
    detail::receive_class* recent_ = &plain_;  // where add_classed() posted last, then never the plain one

    std::array<detail::receive_class, classes_max> classes_;
    unsigned classes_used_ = 0;  // those before it have had a mask
    // Receives whose mask found all classes taken, in order of posting, linked by `next`.
    posted_receive* overflow_oldest_ = nullptr;
    posted_receive* overflow_newest_ = nullptr;

    std::array<std::unique_ptr<posted_receive[]>, chunks_max> chunks_;
    std::size_t chunks_used_ = 0;
    std::size_t allocated_ = 0;
    std::size_t limit_;
};

}  // namespace weft::match
