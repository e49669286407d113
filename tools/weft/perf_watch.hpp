// What ends a wait: an interrupt, the death of the other side, or silence.
//
// Loops call idle() after a poll that found nothing; it costs an increment and looks around only now and then.
#pragma once
#include <sys/types.h>
#include <cstdint>
#include <functional>

#include "floor/partner_link.hpp"
#include "weft/result.hpp"

namespace weft::tool {

class watch {
  public:
    explicit watch(core_use cores) noexcept : mask_(cores == core_use::shared ? 63 : 4095), cores_(cores) {}
    watch(const watch&) = delete;
    watch& operator=(const watch&) = delete;

    // The process on the other side, if it is our child or our parent.
    void look_after(pid_t partner, role mine) noexcept {
        partner_ = partner;
        role_ = mine;
    }
    // Called when the loop has been idle for a while; answers false, with fail(), to end the wait.
    void also(std::function<bool()> look) { also_ = std::move(look); }

    // The same for the peer of the loop that is running; empty ends it.
    void also_about_peer(std::function<bool()> look) { also_about_peer_ = std::move(look); }

    // False: give up, see why().
    bool idle() noexcept {
        if ((++spins_ & mask_) != 0) [[likely]]
            return true;
        return look_around();
    }
    // Something arrived: the time of silence starts again.
    void busy() noexcept { silent_since_ns_ = 0; }

    // Keeps the first reason.
    bool fail(failure f);
    bool failed() const noexcept { return failed_; }
    const failure& why() const noexcept { return why_; }
    void forget() noexcept {
        failed_ = false;
        silent_since_ns_ = 0;
    }
    // For waits of unlimited length (a server without a client).
    void be_patient(bool patient) noexcept { patient_ = patient; }

  private:
    bool look_around() noexcept;
    bool partner_lives() const noexcept;

    std::uint64_t spins_ = 0;
    std::uint64_t mask_;  // spins between two looks, less one
    std::uint64_t silent_since_ns_ = 0;
    std::function<bool()> also_;
    std::function<bool()> also_about_peer_;
    failure why_;
    pid_t partner_ = 0;
    role role_ = role::initiator;
    core_use cores_;
    bool failed_ = false;
    bool patient_ = false;
};

// Ctrl-C, SIGTERM and SIGHUP ask for a clean end; a second one ends the process at once.
void install_signal_handlers();
bool interrupted() noexcept;

}  // namespace weft::tool
