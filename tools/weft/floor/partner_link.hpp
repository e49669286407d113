// Two processes that measure together: the mapping they share, and waiting that ends when the partner does.
//
// Create the link before fork(); afterwards each process calls adopt() with its role. The initiator asks, the
// responder serves (responder.hpp). Every wait spins and has an end: a partner that died, gave up, or stayed silent
// for the deadline breaks the link for good, and why() says which.
#pragma once
#include <sys/types.h>
#include <cstdint>
#include <optional>
#include "floor/arena.hpp"
#include "floor/cycle_clock.hpp"
#include "weft/result.hpp"

namespace weft::tool {

enum class role : std::uint8_t { initiator, responder };
enum class core_use : std::uint8_t { apart, shared };         // shared: give the processor away while waiting
enum class page_use : std::uint8_t { ordinary, huge_wanted };  // huge_wanted: ask for huge pages, not insist

struct link_settings {
    // = 5 s: a thousand slices; a living partner that is scheduled at all answers earlier.
    std::uint64_t deadline_ns = 5'000'000'000;
    core_use cores = core_use::apart;
    page_use pages = page_use::ordinary;
};

class partner_link {
  public:
    static result<partner_link> create(const cycle_clock& clock, const link_settings& settings = {});

    partner_link(partner_link&& other) noexcept;
    partner_link& operator=(partner_link&&) = delete;
    ~partner_link();  // unmaps; the partner, if any still waits, is told by abandon()

    // After fork(), in each process. Also allows the partner to attach to this process's memory where the Yama
    // module would otherwise forbid it.
    void adopt(role mine, pid_t partner) noexcept;

    arena& shared() const noexcept { return *arena_; }
    const cycle_clock& clock() const noexcept { return clock_; }
    pid_t partner() const noexcept { return partner_; }
    role mine() const noexcept { return role_; }
    bool broken() const noexcept { return trouble_ != trouble::none; }

    // Spins until ready() answers true; false when the link is broken.
    template <class Ready>
    bool wait(Ready ready) noexcept {
        std::uint64_t give_up = 0;
        for (std::uint32_t spins = 1;; ++spins) {
            if (ready()) [[likely]]
                return true;
            // About a microsecond without the pause: it costs up to 30 ns of latency, and longer waits than that
            // are nobody's figure.
            if (spins > 1024) pause();
            if ((spins & check_mask_) == 0 && !keep_waiting(give_up)) [[unlikely]]
                return false;
        }
    }

    // Initiator: clears the counters and publishes a request; false when the link is broken. finish() then waits
    // for the answer and returns its error number, or nothing when the link broke.
    bool ask(const request& r) noexcept;
    std::optional<int> finish() noexcept;

    // Responder: the next request, waiting for it as long as the initiator lives (spinning, then sleeping);
    // nothing when the link is broken.
    std::optional<request> next_request() noexcept;
    void answer(int error) noexcept;

    // Initiator: how often the scheduler has taken the processor away from either process, up to the last answer.
    // What was timed while this changed also timed somebody else's program. Always 0 where both share a processor
    // and hand it over on purpose.
    std::uint64_t preemptions() const noexcept;

    // Ends the link for both sides.
    void abandon() noexcept;

    // What broke the link. Precondition: broken().
    failure why() const;

  private:
    enum class trouble : std::uint8_t { none, partner_gone, partner_silent, abandoned };

    partner_link(arena* shared, const cycle_clock& clock, const link_settings& settings) noexcept;
    bool keep_waiting(std::uint64_t& give_up) noexcept;
    bool partner_lives() const noexcept;
    bool break_off(trouble t) noexcept;
    static void pause() noexcept;

    arena* arena_;
    cycle_clock clock_;
    std::uint64_t deadline_ticks_;
    std::uint64_t deadline_ns_;
    std::uint64_t requests_ = 0;  // asked or taken so far
    std::uint32_t check_mask_;
    pid_t partner_ = 0;
    role role_ = role::initiator;
    core_use cores_;
    trouble trouble_ = trouble::none;
};

inline void partner_link::pause() noexcept {
#if defined(__x86_64__)
    _mm_pause();
#endif
}

}  // namespace weft::tool
