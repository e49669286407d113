// The shm transport as the protocol engine sees it: one per endpoint.
#pragma once
#include <weft/plugin.h>
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>
#include <weft/status.hpp>
#include "shm/channel.hpp"
#include "shm/domain.hpp"
#include "shm/limits.hpp"

namespace weft::shm {

class port {
  public:
    using channel = shm::channel;
    static constexpr std::uint32_t inline_max = limits::inline_max;
    static constexpr std::uint32_t inline_data_max = limits::inline_data_max;
    static constexpr std::uint64_t message_max = limits::message_max;
    static constexpr std::uint64_t pull_step = limits::pull_step;
    static constexpr std::uint32_t burst = limits::burst;
    static constexpr std::size_t lines_ahead = limits::lines_ahead;

    explicit port(std::shared_ptr<domain> d) : domain_(std::move(d)) { domain_->add(*this); }
    ~port() { shut(); }
    port(const port&) = delete;
    port& operator=(const port&) = delete;

    // The first segments are short, so that the receiver starts early; then, when `done` bytes of the message are on
    // their way, long ones, which copy faster.
    static std::uint32_t segment_size(std::uint64_t done, std::uint64_t left) noexcept {
        const std::uint64_t step = std::clamp<std::uint64_t>(done, limits::segment_first, limits::segment_max);
        return static_cast<std::uint32_t>(std::min(step, left));
    }

    std::uint32_t eager_max() const noexcept { return domain_->settings().eager_max; }
    std::uint64_t known_peers() const noexcept { return domain_->known_peers(); }
    status contact(std::uint64_t peer) noexcept { return domain_->contact(*this, peer); }
    // Contacts under way: the endpoint looks at its sockets with every poll.
    bool waiting() const noexcept { return waiting_.load(std::memory_order_relaxed) != 0; }

    // Looks at the sockets and hands over what concerns the endpoint: `events.attached(channel)`,
    // `events.closed(peer)`.
    template <class Events>
    void work(Events& events) noexcept {
        domain_->progress(waiting());
        if (!filled_.load(std::memory_order_acquire)) return;  // pairs with the release in deliver()
        std::vector<event> taken;
        {
            const std::lock_guard locked(inbox_mutex_);
            taken.swap(inbox_);
            filled_.store(false, std::memory_order_relaxed);
        }
        for (event& e : taken) {
            if (e.opened)
                events.attached(std::move(e.opened));
            else
                events.closed(e.peer);
        }
    }

    void shut() noexcept {
        if (!shut_) domain_->remove(*this);
        shut_ = true;
    }

    status address(void* bytes, std::size_t* size) const noexcept;
    status describe_self(weft_path&) const noexcept;
    status describe_path(std::uint64_t to, const channel&, weft_path&, weft_failure&) const noexcept;
    void log_fault(std::uint64_t peer, const char* what) const noexcept;

    // ---- for the domain ---------------------------------------------------------------------------------------

    std::uint32_t number = 0;  // set by domain::add
    base::identity identity() const noexcept { return domain_->identity_of_port(number); }
    // An opened channel, or null: the peer has closed.
    void deliver(std::uint64_t peer, std::unique_ptr<channel> opened);
    void count_waiting(int change) noexcept { waiting_.fetch_add(change, std::memory_order_relaxed); }

  private:
    struct event {
        std::uint64_t peer = 0;
        std::unique_ptr<channel> opened;
    };

    std::shared_ptr<domain> domain_;
    std::mutex inbox_mutex_;
    std::vector<event> inbox_;
    std::atomic<bool> filled_{false};
    std::atomic<int> waiting_{0};
    bool shut_ = false;
};

}  // namespace weft::shm
