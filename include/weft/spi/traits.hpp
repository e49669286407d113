// The properties for which endpoint code is specialised, and the choice among the sets a provider ships.
//
// Only what changes the instructions of the data path belongs here: a lock (an atomic read-modify-write) and the
// format of completion entries (stores). Everything else an application may need is either variable per call or
// decided by which of the endpoint's functions it calls.
#pragma once
#include <cstddef>
#include <cstdint>
#include "../plugin.h"

namespace weft::spi {

enum class entry_format : std::uint8_t {
    tokens = WEFT_ENTRY_TOKENS,
    message = WEFT_ENTRY_MESSAGE,
    tagged = WEFT_ENTRY_TAGGED,
};

// Structural, so that it can be a template argument.
struct traits {
    bool locked = false;  // several threads may call: every entry point takes the queue's lock
    entry_format format = entry_format::tagged;

    constexpr bool operator==(const traits&) const = default;

    // Can code built for *this serve someone who wants `w`?
    constexpr bool serves(traits w) const noexcept { return (locked || !w.locked) && format == w.format; }
    // By how much is it fatter than asked? In units of one uncontended lock.
    constexpr int excess(traits w) const noexcept { return locked && !w.locked ? 1 : 0; }
};

inline const char* format_name(entry_format f) noexcept {
    switch (f) {
        case entry_format::tokens: return "tokens";
        case entry_format::message: return "message";
        case entry_format::tagged: return "tagged";
    }
    return "?";
}

// The list of sets a provider ships. `visit` finds the leanest one that serves `want` and calls
// `f.template operator()<Set>()` for it, once, when an endpoint or queue is opened; returns false if none serves.
template <traits... Shipped>
struct instantiations {
    static constexpr std::size_t count = sizeof...(Shipped);
    // Text and compile time grow linearly with the number of sets: about 6 KB and 0.3 s each.
    static_assert(count <= 24, "ship at most 24 property sets per provider");

    // Index of the leanest set that serves, or -1.
    static constexpr int choose(traits want) noexcept {
        int best = -1, best_excess = 1 << 30, i = 0;
        ((Shipped.serves(want) && Shipped.excess(want) < best_excess ? (best = i, best_excess = Shipped.excess(want))
                                                                     : 0,
          ++i),
         ...);
        return best;
    }

    template <class F>
    static bool visit(traits want, F&& f) {
        const int chosen = choose(want);
        int i = 0;
        ((i++ == chosen ? (f.template operator()<Shipped>(), 0) : 0), ...);
        return chosen >= 0;
    }

    // Calls `f.template operator()<Set>()` for every set.
    template <class F>
    static void for_each(F&& f) {
        (f.template operator()<Shipped>(), ...);
    }
};

}  // namespace weft::spi
