// The endpoint under test, on either side: opened as both sides agreed, and its part of a slice.
//
// Calls here are per slice; what is measured is in perf_loops.hpp, instantiated behind this interface.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "floor/cycle_clock.hpp"
#include "floor/statistics.hpp"
#include "perf_options.hpp"
#include "perf_watch.hpp"
#include "weft/fabric.hpp"

namespace weft::tool {

// One slice of a measurement, as both sides know it.
struct slice_order {
    quantity test = quantity::latency;
    std::uint64_t size = 0;
    std::uint64_t count = 0;  // round trips, or messages one way
    std::uint64_t first = 0;  // number of the first transfer, for the pattern
    std::uint32_t window = 1;
};

// Memory for the transfers of an end. With checking each transfer in flight has room of its own.
struct transfer_memory {
    std::span<std::byte> out;
    std::span<std::byte> in;
};

// What the two sides agree on before the first slice.
struct work_terms {
    std::string provider;
    family op = family::send;
    threading threads = threading::one_thread;
    checking check = checking::off;
    std::uint64_t size_max = 0;
    std::uint64_t memory_size = 0;  // of each of the two buffers
    std::uint32_t window_max = 1;
};

// Windows shrink so that a checking run needs no more memory than this in each direction.
inline constexpr std::uint64_t checked_memory_max = std::uint64_t{256} << 20;
// No run needs more; what a client asks for beyond it is refused.
inline constexpr std::uint64_t memory_size_max = std::uint64_t{16} << 30;

std::uint32_t window_for(std::uint64_t size, const work_terms& terms) noexcept;
std::uint64_t memory_size_for(std::span<const std::uint64_t> sizes, const work_terms& terms) noexcept;
// Whether an order stays within the terms: checked before it is obeyed.
bool within(const slice_order& order, const work_terms& terms) noexcept;

class work_end {
  public:
    virtual ~work_end() = default;
    work_end() = default;
    work_end(const work_end&) = delete;
    work_end& operator=(const work_end&) = delete;

    static result<std::unique_ptr<work_end>> open(const fabric& fab, const work_terms& terms, watch& w);

    virtual address own_address() const = 0;
    virtual result<void> connect(std::span<const std::byte> other) = 0;
    virtual result<path_info> path() const = 0;
    virtual const offer& what() const noexcept = 0;

    // The responder prepares, then the initiator starts. False or a negative number: the watch knows why.
    virtual bool prepare(const slice_order& order) = 0;
    // Latency: half a round trip in ns, the median, all recorded in `times`. Else 0.
    virtual double initiate(const slice_order& order, const cycle_clock& clock, histogram& times) = 0;
    // Rate and bandwidth: messages per second taken. Else 0.
    virtual double respond(const slice_order& order, const cycle_clock& clock) = 0;
    virtual bool poll() = 0;
};

}  // namespace weft::tool
