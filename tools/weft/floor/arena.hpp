// The memory two measuring processes share, and how one asks the other to take part in a measurement.
//
// The initiator owns everything between two requests: it clears what the next measurement uses, fills in the request
// and publishes it by raising `requested`; the responder hands it back by raising `answered`. Within a measurement
// each field has one writer.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace weft::tool {

// Counters written by different processes keep two lines apart: some processors fetch lines in pairs.
inline constexpr std::size_t pair_size = 128;
inline constexpr std::size_t line_size = 64;
// Largest window of blocks or slots in one direction: twice the largest that has ever been of use.
inline constexpr std::size_t window_size_max = std::size_t{4} << 20;
// In sequences and block counts: nothing follows. Counts never get near it.
inline constexpr std::uint64_t ended = std::uint64_t{1} << 63;

enum class mechanism : std::uint8_t {
    in_line,  // payload right behind its sequence number, in one slot; up to 56 bytes share its cache line
    blocks,   // copied in and out through a ring of blocks, both at once
    attach,   // the receiver reads the sender's buffer by process_vm_readv
};

enum class copy_routine : std::uint8_t {
    library,      // memcpy
    string_move,  // rep movsb
    streaming,    // stores that go past the caches
};

// One way of moving a message. `block` and `window` are bytes; a block is used by mechanism::blocks, a window also
// by the slots of a rate measurement.
struct way {
    mechanism how = mechanism::in_line;
    copy_routine copy_in = copy_routine::library;
    std::uint32_t block = 0;
    std::uint32_t window = 0;
};

enum class request_kind : std::uint32_t { probe, latency, rate, bandwidth, try_attach, call, rest, stop };

struct request {
    request_kind kind = request_kind::probe;
    way how{};
    std::uint64_t size = 0;
    std::uint64_t argument = 0;        // of a call: the caller's own; of a rest: ns
    std::uint64_t attach_address = 0;  // the initiator's outgoing buffer
};

struct alignas(pair_size) counter {
    std::atomic<std::uint64_t> value{0};
};

// The start of a slot; the payload follows. Slots lie back to back, a multiple of a line apart.
struct alignas(line_size) slot {
    std::atomic<std::uint64_t> sequence;
};
static_assert(sizeof(slot) == line_size);

// One direction.
struct channel {
    counter produced;  // blocks published by the sender, perhaps with `ended`
    counter consumed;  // blocks given back by the receiver
    alignas(4096) std::array<std::byte, window_size_max> window;
};

struct arena {
    counter requested;  // raised by the initiator, with `asked` filled in
    request asked{};
    counter answered;  // raised by the responder when its part is done
    std::int32_t answer_error = 0;
    std::uint64_t answer_preemptions = 0;  // of the responder so far
    counter abandoned;                           // not 0: one of the two gave up; nothing is valid any more
    std::atomic<std::uint64_t> answer_attach{0};  // the responder's outgoing buffer
    channel outward;                             // initiator to responder
    channel homeward;                            // responder to initiator
};

static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "atomics in shared memory must not need a lock");

}  // namespace weft::tool
