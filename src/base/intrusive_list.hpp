// Doubly linked list whose links live in the objects: no allocation, removal from the middle in O(1).
//
// The list owns nothing. An object is in at most one list per Tag; it must leave before it dies.
#pragma once
#include <cstddef>
#include <iterator>

#include "base/assert.hpp"

namespace weft::base {

// Base class of an object that can be in a list. A second Tag allows a second list at the same time.
// Copying an object does not copy its membership.
template <class Tag = void>
class list_hook {
  public:
    list_hook() = default;
    list_hook(const list_hook&) noexcept {}
    // NOLINTNEXTLINE(bugprone-unhandled-self-assignment): it takes nothing over
    list_hook& operator=(const list_hook&) noexcept { return *this; }
    ~list_hook() { WEFT_ASSERT(!linked()); }

    bool linked() const noexcept { return next_ != nullptr; }

    // Leaves whatever list it is in. Requires linked(). The list keeps no count, so this needs no list.
    void unlink() noexcept {
        WEFT_ASSERT(linked());
        next_->previous_ = previous_;
        previous_->next_ = next_;
        next_ = nullptr;
        previous_ = nullptr;
    }

  private:
    template <class, class>
    friend class intrusive_list;

    list_hook* next_ = nullptr;
    list_hook* previous_ = nullptr;
};

template <class T, class Tag = void>
class intrusive_list {
    using hook = list_hook<Tag>;

  public:
    class iterator {
      public:
        using iterator_category = std::bidirectional_iterator_tag;
        using value_type = T;
        using difference_type = std::ptrdiff_t;
        using pointer = T*;
        using reference = T&;

        iterator() = default;
        T& operator*() const noexcept { return *static_cast<T*>(at_); }
        T* operator->() const noexcept { return static_cast<T*>(at_); }
        iterator& operator++() noexcept {
            at_ = intrusive_list::next_of(at_);
            return *this;
        }
        iterator operator++(int) noexcept {
            const iterator before = *this;
            ++*this;
            return before;
        }
        iterator& operator--() noexcept {
            at_ = intrusive_list::previous_of(at_);
            return *this;
        }
        iterator operator--(int) noexcept {
            const iterator before = *this;
            --*this;
            return before;
        }
        bool operator==(const iterator&) const = default;

      private:
        friend class intrusive_list;
        explicit iterator(hook* at) noexcept : at_(at) {}
        hook* at_ = nullptr;
    };

    intrusive_list() noexcept { reset(); }
    intrusive_list(const intrusive_list&) = delete;
    intrusive_list& operator=(const intrusive_list&) = delete;
    ~intrusive_list() {
        clear();
        end_.next_ = nullptr;  // the end mark is a hook too, and a hook must be unlinked when it dies
        end_.previous_ = nullptr;
    }

    bool empty() const noexcept { return end_.next_ == &end_; }
    // Require !empty().
    T& front() noexcept { return *static_cast<T*>(end_.next_); }
    T& back() noexcept { return *static_cast<T*>(end_.previous_); }

    void push_back(T& item) noexcept { insert_before(&end_, item); }
    void push_front(T& item) noexcept { insert_before(end_.next_, item); }
    // Puts `item` in front of `position`.
    void insert(iterator position, T& item) noexcept { insert_before(position.at_, item); }

    // Removes and returns the first, or null if there is none.
    T* pop_front() noexcept {
        if (empty()) return nullptr;
        hook* first = end_.next_;
        first->unlink();
        return static_cast<T*>(first);
    }
    // Requires that `item` is in this list. Iterators to other items stay valid.
    void remove(T& item) noexcept { static_cast<hook&>(item).unlink(); }
    // Removes and returns the iterator of the one after it.
    iterator erase(iterator position) noexcept {
        hook* after = position.at_->next_;
        position.at_->unlink();
        return iterator{after};
    }
    // Moves all items of `other` behind ours; O(1).
    void splice_back(intrusive_list& other) noexcept {
        if (&other == this || other.empty()) return;
        other.end_.next_->previous_ = end_.previous_;
        end_.previous_->next_ = other.end_.next_;
        other.end_.previous_->next_ = &end_;
        end_.previous_ = other.end_.previous_;
        other.reset();
    }
    // Unlinks every item; O(n).
    void clear() noexcept {
        while (pop_front() != nullptr) {
        }
    }

    iterator begin() noexcept { return iterator{end_.next_}; }
    iterator end() noexcept { return iterator{&end_}; }

  private:
    static hook* next_of(hook* at) noexcept { return at->next_; }
    static hook* previous_of(hook* at) noexcept { return at->previous_; }
    void reset() noexcept {
        end_.next_ = &end_;
        end_.previous_ = &end_;
    }
    void insert_before(hook* after, T& item) noexcept {
        hook& h = item;
        WEFT_ASSERT(!h.linked());
        h.next_ = after;
        h.previous_ = after->previous_;
        after->previous_->next_ = &h;
        after->previous_ = &h;
    }

    hook end_;
};

}  // namespace weft::base
