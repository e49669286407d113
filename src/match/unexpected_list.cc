#include "match/unexpected_list.hpp"

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

#include "base/assert.hpp"
#include "base/hash.hpp"

namespace weft::match {

namespace detail {

namespace {
constexpr std::size_t buckets_min = 64;  // eight cache lines; more waiting messages soon get more
}

std::uint64_t arrival_table::hash(std::uint64_t tag, std::uint64_t source) const noexcept {
    return by_ == key::tag ? base::hash_key(tag) : base::hash_pair(tag, source);
}

// The link that holds the ring of this key, or the null link at the end of its bucket.
unexpected_link** arrival_table::locate(std::uint64_t tag, std::uint64_t source) const noexcept {
    unexpected_link** link = &buckets_[hash(tag, source) & mask_];
    while (*link != nullptr && ((*link)->tag != tag || (by_ == key::pair && (*link)->source != source)))
        link = &of(**link).chain;
    return link;
}

void arrival_table::add(unexpected_link& m) noexcept {
    unexpected_link** const link = locate(m.tag, m.source);
    unexpected_link* const oldest = *link;
    links& mine = of(m);
    mine.chain = nullptr;
    if (oldest == nullptr) {
        mine.newer = mine.older = &m;
        *link = &m;
        return;
    }
    links& end = of(*oldest);
    mine.newer = oldest;
    mine.older = end.older;
    of(*end.older).newer = &m;
    end.older = &m;
}

void arrival_table::remove(unexpected_link& m) noexcept {
    unexpected_link** const link = locate(m.tag, m.source);
    links& mine = of(m);
    if (*link == &m) {
        if (mine.newer == &m) {
            *link = mine.chain;
            return;
        }
        of(*mine.newer).chain = mine.chain;
        *link = mine.newer;
    }
    of(*mine.newer).older = mine.older;
    of(*mine.older).newer = mine.newer;
}

void arrival_table::grow(std::size_t wanted) noexcept {
    const std::size_t count = std::bit_ceil(std::max(wanted, buckets_min));
    if (count <= size()) return;
    std::unique_ptr<unexpected_link*[]> storage{new (std::nothrow) unexpected_link* [count] {}};
    if (!storage) return;
    for (std::size_t i = 0; i < size(); ++i) {
        for (unexpected_link* ring = buckets_[i]; ring != nullptr;) {
            unexpected_link* const rest = of(*ring).chain;
            unexpected_link*& bucket = storage[hash(ring->tag, ring->source) & (count - 1)];
            of(*ring).chain = bucket;
            bucket = ring;
            ring = rest;
        }
    }
    first_ = nullptr;
    storage_ = std::move(storage);
    buckets_ = storage_.get();
    mask_ = count - 1;
}

}  // namespace detail

void unexpected_index::add(unexpected_link& m) noexcept {
    if (++size_ > by_tag_.size() || by_tag_.size() == 1) [[unlikely]] {
        by_tag_.grow(size_);
        by_pair_.grow(size_);
    }
    m.links.newer = nullptr;
    m.links.older = newest_;
    (newest_ == nullptr ? oldest_ : newest_->links.newer) = &m;
    newest_ = &m;
    by_tag_.add(m);
    by_pair_.add(m);
}

unexpected_link* unexpected_index::find(std::uint64_t tag, std::uint64_t ignore, std::uint64_t source) const noexcept {
    if (ignore == 0) {
        if (source == any_source) return by_tag_.find(tag, source);
        return by_pair_.find(tag, source);
    }
    // A receive that ignores all bits and takes from anybody ends at the first.
    for (unexpected_link* m = oldest_; m != nullptr; m = m->links.newer)
        if (((m->tag ^ tag) & ~ignore) == 0 && (source == any_source || m->source == source)) return m;
    return nullptr;
}

void unexpected_index::remove(unexpected_link& m) noexcept {
    WEFT_ASSERT(size_ != 0);
    --size_;
    (m.links.older == nullptr ? oldest_ : m.links.older->links.newer) = m.links.newer;
    (m.links.newer == nullptr ? newest_ : m.links.newer->links.older) = m.links.older;
    by_tag_.remove(m);
    by_pair_.remove(m);
}

}  // namespace weft::match
