#include "match/posted_list.hpp"

#include <algorithm>
#include <bit>
#include <new>

namespace weft::match {

namespace {

constexpr std::uint64_t class_buckets_min = 64;  // one page holds the tables of eight classes

// Merges two lists in order of posting.
posted_receive* merge(posted_receive* a, posted_receive* b) noexcept {
    posted_receive* head = nullptr;
    posted_receive** end = &head;
    while (a != nullptr && b != nullptr) {
        posted_receive*& earlier = a->sequence < b->sequence ? a : b;
        *end = earlier;
        end = &earlier->next;
        earlier = earlier->next;
    }
    *end = a != nullptr ? a : b;
    return head;
}

// Bottom-up merge sort: no recursion and no memory. runs[i] holds 2^i receives or none.
posted_receive* sort_by_sequence(posted_receive* list) noexcept {
    std::array<posted_receive*, 64> runs{};
    while (list != nullptr) {
        posted_receive* run = list;
        list = list->next;
        run->next = nullptr;
        std::size_t i = 0;
        for (; runs[i] != nullptr; ++i) {
            run = merge(runs[i], run);
            runs[i] = nullptr;
        }
        runs[i] = run;
    }
    posted_receive* sorted = nullptr;
    for (posted_receive* run : runs) sorted = merge(run, sorted);
    return sorted;
}

}  // namespace

void detail::receive_class::grow(std::uint64_t buckets_wanted) noexcept {
    const std::uint64_t wanted = std::bit_ceil(buckets_wanted);
    if (wanted <= table.size()) return;
    std::unique_ptr<posted_receive*[]> storage{new (std::nothrow) posted_receive* [wanted] {}};
    if (!storage) return;
    const std::uint64_t mask = (wanted - 1) * sizeof(posted_receive*);
    for (std::uint64_t i = 0; i < table.size(); ++i) {
        for (posted_receive* ring = table.buckets[i]; ring != nullptr;) {
            posted_receive* const rest = ring->chain;
            // Whole rings move: their keys are distinct, so the order within a bucket does not matter.
            posted_receive*& bucket = storage[(hash(ring->source, ring->tag) & mask) / sizeof(posted_receive*)];
            ring->chain = bucket;
            bucket = ring;
            ring = rest;
        }
    }
    table.first = nullptr;
    table.storage = std::move(storage);
    table.buckets = table.storage.get();
    table.mask = mask;
}

posted_list::~posted_list() = default;

bool posted_list::grow() noexcept {
    const std::size_t left = limit_ - allocated_;
    const std::size_t count = std::min(left, std::max(allocated_, chunk_first));
    if (count == 0 || chunks_used_ == chunks_max) return false;
    std::unique_ptr<posted_receive[]> chunk{new (std::nothrow) posted_receive[count]};
    if (!chunk) return false;
    for (std::size_t i = count; i-- > 0;) release(&chunk[i]);  // backwards: handed out in order of address
    chunks_[chunks_used_++] = std::move(chunk);
    allocated_ += count;
    plain_.grow(allocated_);
    return true;
}

bool posted_list::reserve(std::size_t count) noexcept {
    while (allocated_ < std::min(count, limit_))
        if (!grow()) return false;
    return true;
}

posted_receive* posted_list::add_growing(std::uint64_t tag, std::uint64_t ignore, std::uint64_t source) noexcept {
    return grow() ? add(tag, ignore, source) : nullptr;
}

inline posted_receive* posted_list::next_record(std::uint64_t tag, std::uint32_t source) noexcept {
    posted_receive* const r = free_;
    free_ = r->next;
    r->sequence = sequence_++;
    r->tag = tag;
    r->source = source;
    return r;
}

inline posted_receive* posted_list::add_to(detail::receive_class& c, std::uint64_t tag, std::uint32_t source) noexcept {
    posted_receive* const r = next_record(tag, source);
    ++c.count;
    live_ |= c.bit;
    detail::ring_table::append(c.find(source, tag), r);
    return r;
}

posted_receive* posted_list::add_classed(std::uint64_t tag, std::uint64_t ignore, std::uint64_t source) noexcept {
    detail::receive_class& c = *recent_;
    const std::uint32_t source_mask = source == any_source ? 0 : ~std::uint32_t{0};
    if (c.keep != ~ignore || c.source_mask != source_mask || c.count == c.full)
        return add_other_class(tag, ignore, source);
    return add_to(c, tag, static_cast<std::uint32_t>(source));
}

posted_receive* posted_list::add_other_class(std::uint64_t tag, std::uint64_t ignore, std::uint64_t source) noexcept {
    detail::receive_class* const c = class_for(~ignore, source == any_source ? 0 : ~std::uint32_t{0});
    if (c != nullptr) {
        if (c->count == c->full) {
            c->grow(std::max(std::uint64_t{c->count} * 2, class_buckets_min));
            // The second if there was no memory: not tried again with every receive.
            c->full = std::max(static_cast<std::uint32_t>(c->table.size()), c->count * 2);
        }
        recent_ = c;
        return add_to(*c, tag, static_cast<std::uint32_t>(source));
    }
    posted_receive* const r = next_record(tag, static_cast<std::uint32_t>(source));
    r->ignore = ignore;
    r->next = nullptr;
    (overflow_oldest_ == nullptr ? overflow_oldest_ : overflow_newest_->next) = r;
    overflow_newest_ = r;
    live_ |= overflow_bit;
    return r;
}

// The class of this mask, taking over an idle one if it is new; null when all are busy with others.
detail::receive_class* posted_list::class_for(std::uint64_t keep, std::uint32_t source_mask) noexcept {
    detail::receive_class* idle = nullptr;
    for (unsigned i = 0; i < classes_used_; ++i) {
        detail::receive_class& c = classes_[i];
        if (c.keep == keep && c.source_mask == source_mask) return &c;
        if (c.count == 0) idle = &c;
    }
    if (classes_used_ < classes_max) {
        idle = &classes_[classes_used_];
        idle->bit = std::uint32_t{1} << classes_used_++;
    }
    if (idle != nullptr) {
        idle->keep = keep;
        idle->source_mask = source_mask;
    }
    return idle;
}

// Removes the oldest of the ring at `link`, which is not of the plain class.
inline posted_receive* posted_list::take_from(detail::receive_class& c, posted_receive** link) noexcept {
    ++taken_;
    if (--c.count == 0) live_ &= ~std::uint64_t{c.bit};
    return detail::ring_table::pop(link);
}

posted_receive* posted_list::take_classed(std::uint32_t source, std::uint64_t tag) noexcept {
    detail::receive_class& c = *recent_;
    if (size() != c.count) return take_earliest(source, tag);  // some are elsewhere
    posted_receive** const link = c.find(source, tag);
    return *link == nullptr ? nullptr : take_from(c, link);
}

posted_receive* posted_list::take_earliest(std::uint32_t source, std::uint64_t tag) noexcept {
    detail::receive_class* best = &plain_;
    posted_receive** best_link = find_plain(tag);  // leads to the best ring so far, whose oldest was posted `earliest`
    std::uint64_t earliest = *best_link == nullptr ? ~std::uint64_t{0} : (*best_link)->next->sequence;
    for (std::uint64_t rest = live_ & (overflow_bit - 1); rest != 0; rest &= rest - 1) {
        detail::receive_class& c = classes_[static_cast<unsigned>(std::countr_zero(rest))];
        posted_receive** const link = c.find(source, tag);
        if (*link == nullptr || (*link)->next->sequence >= earliest) continue;
        best = &c;
        best_link = link;
        earliest = (*link)->next->sequence;
    }
    if ((live_ & overflow_bit) != 0) [[unlikely]] {
        posted_receive* before = nullptr;
        // Ordered, so what lies behind the best one so far need not be looked at.
        for (posted_receive* r = overflow_oldest_; r != nullptr && r->sequence < earliest; before = r, r = r->next) {
            if (((r->tag ^ tag) & ~r->ignore) != 0 || (!r->takes_any_source() && r->source != source)) continue;
            (before == nullptr ? overflow_oldest_ : before->next) = r->next;
            if (r == overflow_newest_) overflow_newest_ = before;
            if (overflow_oldest_ == nullptr) live_ &= ~overflow_bit;
            ++taken_;
            return r;
        }
    }
    if (*best_link == nullptr) return nullptr;
    if (best != &plain_) return take_from(*best, best_link);
    ++taken_;
    return detail::ring_table::pop(best_link);
}

posted_receive* posted_list::cancel(const void* token) noexcept {
    const posted_receive* earliest = nullptr;
    for_each([&](const posted_receive& r) {
        if (r.token == token && (earliest == nullptr || r.sequence < earliest->sequence)) earliest = &r;
    });
    posted_receive* removed = nullptr;
    if (earliest != nullptr) {
        remove_if([=](const posted_receive& r) { return &r == earliest; }, [&](posted_receive& r) { removed = &r; });
    }
    return removed;
}

posted_receive* posted_list::detach(predicate chosen, void* context) noexcept {
    posted_receive* removed = nullptr;
    // Filters one list in order of posting, ended by null; what stays is handed to `keep`.
    const auto filter = [&](posted_receive* r, auto&& keep) {
        std::uint32_t count = 0;
        while (r != nullptr) {
            posted_receive* const next = r->next;
            if (chosen(context, *r)) {
                r->next = removed;
                removed = r;
                ++count;
            } else {
                keep(r);
            }
            r = next;
        }
        taken_ += count;
        return count;
    };
    const auto filter_class = [&](detail::receive_class& c) {
        std::uint32_t count = 0;
        for (std::uint64_t i = 0; i < c.table.size(); ++i) {
            posted_receive** link = &c.table.buckets[i];
            while (*link != nullptr) {
                posted_receive* const oldest = (*link)->next;
                posted_receive* const rest = (*link)->chain;
                (*link)->next = nullptr;
                *link = nullptr;
                count += filter(oldest, [&](posted_receive* r) { detail::ring_table::append(link, r); });
                if (*link != nullptr) link = &(*link)->chain;
                *link = rest;
            }
        }
        return count;
    };

    filter_class(plain_);
    for (unsigned i = 0; i < classes_used_; ++i) {
        detail::receive_class& c = classes_[i];
        if (c.count == 0) continue;
        c.count -= filter_class(c);
        if (c.count == 0) live_ &= ~std::uint64_t{c.bit};
    }
    posted_receive* const overflow = overflow_oldest_;
    overflow_oldest_ = overflow_newest_ = nullptr;
    filter(overflow, [&](posted_receive* r) {
        r->next = nullptr;
        (overflow_oldest_ == nullptr ? overflow_oldest_ : overflow_newest_->next) = r;
        overflow_newest_ = r;
    });
    if (overflow_oldest_ == nullptr) live_ &= ~overflow_bit;
    return sort_by_sequence(removed);
}

void posted_list::walk(visitor visit, void* context) const noexcept {
    const auto walk_class = [&](const detail::receive_class& c) {
        for (std::uint64_t i = 0; i < c.table.size(); ++i) {
            for (const posted_receive* ring = c.table.buckets[i]; ring != nullptr; ring = ring->chain) {
                const posted_receive* r = ring;
                do {
                    r = r->next;
                    visit(context, *r);
                } while (r != ring);
            }
        }
    };
    walk_class(plain_);
    for (unsigned i = 0; i < classes_used_; ++i)
        if (classes_[i].count != 0) walk_class(classes_[i]);
    for (const posted_receive* r = overflow_oldest_; r != nullptr; r = r->next) visit(context, *r);
}

}  // namespace weft::match
