// Unexpected messages: those that arrived before a receive matched them, found in order of arrival by the receive
// that is about to be posted.
//
// The records are the owner's and carry their links in a base class. Each is in three lists: all arrivals in order,
// those with its tag, and those with its source and tag; the last two through hash tables, so that exact receives
// find theirs at once however many there are. Only receives that ignore some, but not all, bits scan.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "match/posted_list.hpp"

namespace weft::match {

class unexpected_index;

// Base of the owner's record. The owner sets both members before add() and leaves them alone until the record is out.
struct unexpected_link {
    std::uint64_t tag = 0;
    std::uint64_t source = any_source;  // the peer's index; any_source: unknown, found only by receives from anybody

    // Records with one key form a ring in order of arrival; the oldest stands for it in its bucket.
    struct ring_links {
        unexpected_link* newer;  // of the newest: the oldest
        unexpected_link* older;
        unexpected_link* chain;  // the next ring in the bucket; oldest of a ring only
    };
    struct {
        ring_links by_tag;
        ring_links by_pair;
        unexpected_link* newer;
        unexpected_link* older;
    } links;  // the list's
};

namespace detail {

// Hash table of rings through one of the two sets of links. Has one bucket inside, see ring_table.
class arrival_table {
  public:
    using links = unexpected_link::ring_links;
    enum class key { tag, pair };

    explicit arrival_table(key by) noexcept : by_(by) {}
    arrival_table(const arrival_table&) = delete;
    arrival_table& operator=(const arrival_table&) = delete;

    // The oldest with this key. Without `source` in the key it is not looked at.
    unexpected_link* find(std::uint64_t tag, std::uint64_t source) const noexcept { return *locate(tag, source); }
    void add(unexpected_link& m) noexcept;
    void remove(unexpected_link& m) noexcept;
    std::size_t size() const noexcept { return static_cast<std::size_t>(mask_ + 1); }
    // Makes at least `wanted` buckets; without memory the table stays as it is.
    void grow(std::size_t wanted) noexcept;

  private:
    links& of(unexpected_link& m) const noexcept { return by_ == key::tag ? m.links.by_tag : m.links.by_pair; }
    std::uint64_t hash(std::uint64_t tag, std::uint64_t source) const noexcept;
    unexpected_link** locate(std::uint64_t tag, std::uint64_t source) const noexcept;

    unexpected_link** buckets_ = &first_;
    std::uint64_t mask_ = 0;
    unexpected_link* first_ = nullptr;
    std::unique_ptr<unexpected_link*[]> storage_;
    key by_;
};

}  // namespace detail

// The part that does not depend on the record's type. Not thread-safe. Owns no record: those still in it when it is
// destroyed are the owner's to free.
class unexpected_index {
  public:
    unexpected_index() = default;
    unexpected_index(const unexpected_index&) = delete;
    unexpected_index& operator=(const unexpected_index&) = delete;

    bool empty() const noexcept { return oldest_ == nullptr; }
    std::size_t size() const noexcept { return size_; }

    void add(unexpected_link& m) noexcept;
    unexpected_link* find(std::uint64_t tag, std::uint64_t ignore, std::uint64_t source) const noexcept;
    void remove(unexpected_link& m) noexcept;
    unexpected_link* oldest() const noexcept { return oldest_; }

  private:
    unexpected_link* oldest_ = nullptr;  // ends of the list of all arrivals
    unexpected_link* newest_ = nullptr;
    std::size_t size_ = 0;
    detail::arrival_table by_tag_{detail::arrival_table::key::tag};
    detail::arrival_table by_pair_{detail::arrival_table::key::pair};
};

// Record derives from unexpected_link.
template <class Record>
class unexpected_list {
    static_assert(std::is_base_of_v<unexpected_link, Record>);

  public:
    // One load and a test: what a receive costs when nothing is waiting.
    bool empty() const noexcept { return index_.empty(); }
    std::size_t size() const noexcept { return index_.size(); }

    // Appends an arrival; tag and source are set. It must stay where it is until it is out again.
    void add(Record& m) noexcept { index_.add(m); }

    // The earliest arrival that a receive with this tag, mask of ignored bits and source (or any_source) matches, or
    // null; take() removes it as well.
    Record* find(std::uint64_t tag, std::uint64_t ignore, std::uint64_t source) const noexcept {
        return empty() ? nullptr : static_cast<Record*>(index_.find(tag, ignore, source));
    }
    Record* take(std::uint64_t tag, std::uint64_t ignore, std::uint64_t source) noexcept {
        Record* const m = find(tag, ignore, source);
        if (m != nullptr) index_.remove(*m);
        return m;
    }

    // Removes a record that is in the list: one found before, or given up by its owner. Constant time.
    void remove(Record& m) noexcept { index_.remove(m); }

    // The earliest arrival of all, or null: `while (auto* m = list.oldest()) list.remove(*m)` empties it.
    Record* oldest() const noexcept { return static_cast<Record*>(index_.oldest()); }

    // Calls `visit(Record&)` for each in order of arrival. It may remove the record it is given, and no other.
    template <class Visit>
    void for_each(Visit&& visit) const noexcept {
        for (unexpected_link* m = index_.oldest(); m != nullptr;) {
            unexpected_link* const next = m->links.newer;
            visit(static_cast<Record&>(*m));
            m = next;
        }
    }

    // Removes what came from one peer, for its death, and passes each in order of arrival to `consume(Record&)`,
    // which may free it. Time in proportion to the list.
    template <class Consume>
    void remove_source(std::uint64_t source, Consume&& consume) noexcept {
        for_each([&](Record& m) {
            if (m.source != source) return;
            index_.remove(m);
            consume(m);
        });
    }

  private:
    unexpected_index index_;
};

}  // namespace weft::match
