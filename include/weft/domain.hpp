// A domain: one provider on one device, the address vector, and the parent of queues and endpoints.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include "capabilities.hpp"
#include "completion_queue.hpp"
#include "endpoint.hpp"
#include "needs.hpp"
#include "offer.hpp"
#include "result.hpp"

namespace weft {

struct queue_options {
    std::uint64_t depth = 1024;  // completions that can wait unread before posting answers try_again
    // Must be any_thread when an endpoint bound to the queue is; `as_domain` takes what discovery was asked for.
    enum class threads_choice : std::uint8_t { as_domain, one_thread, any_thread } threads = threads_choice::as_domain;
};

// Copies share one domain; queues and endpoints keep it alive. All calls may come from any thread.
class domain {
  public:
    template <class Entry = entry::tagged>
    result<completion_queue<Entry>> open_queue(const queue_options& options = {}) {
        auto q = open_queue_impl(detail::format_of<Entry>, options);
        if (!q) return std::move(q).error();
        return completion_queue<Entry>{*q};
    }

    // Opens an endpoint whose completions go to `queue`. The failure's text says which need cannot be met.
    template <capset C, class Entry>
    result<endpoint<C>> open(const needs& want, const completion_queue<Entry>& queue) {
        auto e = open_endpoint_impl(C, want, queue.impl());
        if (!e) return std::move(e).error();
        return endpoint<C>{*e};
    }

    // Enters an address into the address vector. The same address gives the same peer, also for a peer that
    // made contact by itself. Nobody is contacted: the first send does that.
    WEFT_EXPORT result<peer> resolve(std::string_view text);
    WEFT_EXPORT result<peer> insert(std::span<const std::byte> address_bytes);
    // The address text of a peer; for a number that was never given out a text that says so.
    WEFT_EXPORT std::string text_of(peer) const;

    WEFT_EXPORT const offer& what() const noexcept;

    struct state;  // core's side
    explicit domain(std::shared_ptr<state> s) noexcept : state_(std::move(s)) {}

  private:
    WEFT_EXPORT result<weft_queue*> open_queue_impl(std::uint32_t format, const queue_options&);
    WEFT_EXPORT result<weft_endpoint*> open_endpoint_impl(capset, const needs&, weft_queue*);

    std::shared_ptr<state> state_;
};

}  // namespace weft
