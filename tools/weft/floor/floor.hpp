// The physical floors of a message between two processes of one host: nothing but the copy and the cache lines.
//
// The initiator calls these; the responder is in serve() (responder.hpp) with buffers of its own. tune() finds the
// best way for a size on this machine, sample() measures it for a slice. Nothing here uses the library under test.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include "floor/arena.hpp"
#include "floor/partner_link.hpp"
#include "weft/result.hpp"

namespace weft::tool {

enum class quantity : std::uint8_t {
    latency,    // half a round trip, ns; less is better
    rate,       // messages one way, millions per second
    bandwidth,  // bytes one way, 10^6 per second
};

// Private memory of each process, reused for every message. Both at least as long as the largest message, and at
// least buffer_size_min: short messages are copied in fixed steps.
struct floor_buffers {
    std::span<std::byte> out;
    std::span<std::byte> in;
};
inline constexpr std::size_t buffer_size_min = 64;

// The largest message of a rate measurement: above, a ring of slots is not what anybody would build.
inline constexpr std::size_t rate_size_max = 4096;
// The shortest message worth a try with cross-memory attach: below, its system call alone costs more than both copies.
inline constexpr std::size_t attach_size_min = 4096;

// The shortest message worth a try with streaming stores: they win where the two cores share no cache.
inline constexpr std::size_t streaming_size_min = 16384;

struct floor_task {
    quantity what = quantity::latency;
    std::size_t size = 8;  // from 1
    way how{};
    std::uint64_t duration_ns = 2'000'000;
};

// One figure, one way.
result<double> measure(partner_link& link, const floor_buffers& buffers, const floor_task& task);

// The best ways found for one quantity and size.
struct floor_plan {
    quantity what = quantity::latency;
    std::size_t size = 8;
    way copy{};      // through the caches
    way streaming{};  // copy-in past the caches; usable from streaming_size_min on
    bool streaming_usable = false;
    bool attach_usable = false;
    int attach_error = 0;  // why not: errno, or 0 when the size is below attach_size_min
};

// Tries the candidates in turn, several times, some 50 ms in all.
result<floor_plan> tune(partner_link& link, const floor_buffers& buffers, quantity what, std::size_t size);

// The floor is `best`, by `how`; `copied` is the better of the copies, `attached` is 0 where attaching is not usable.
struct floor_sample {
    double best = 0;
    double copied = 0;
    double attached = 0;
    way how{};
};

// Measures every usable way for an equal part of the duration.
result<floor_sample> sample(partner_link& link, const floor_buffers& buffers, const floor_plan& plan,
                            std::uint64_t duration_ns);

// Whether the two figures of a quantity are in this order, best first.
constexpr bool is_better(quantity what, double a, double b) noexcept {
    return what == quantity::latency ? a < b : a > b;
}

const char* name_of(mechanism m) noexcept;
const char* name_of(copy_routine c) noexcept;

// Responder's part of measure() and of the trial whether attaching works; called by serve(). False when the link
// broke. `error` receives an errno for the answer.
bool answer_floor(partner_link& link, const floor_buffers& buffers, const request& asked, int& error) noexcept;

}  // namespace weft::tool
