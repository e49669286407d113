// The protocol engine: messages, tagged messages, eager and rendezvous, over a transport's channels.
//
// One class template, compiled once per (transport, traits). A call of the API lands in one of the functions at the
// top through one indirect call; everything that is constant for the endpoint's life is a template argument or a
// member that is only read. The usual case is inline here; the rest is in endpoint_send.hpp, endpoint_receive.hpp,
// endpoint_rendezvous.hpp and endpoint_lifetime.hpp.
//
// A transport provides (see providers/shm/port.hpp for the first one):
//   channel            derives from peer_state; lanes main_tx, main_rx, bulk_tx, bulk_rx
//   inline_max, ...    the bounds named below
//   eager_max()        bytes up to which messages are buffered
//   contact(peer)      starts or continues contact; answers why not
//   work(events)       looks at sockets and the like, now and then
//   shut()             tells peers that the endpoint is closing
#pragma once
#include <weft/plugin.h>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>
#include <weft/spi/tables.hpp>
#include <weft/spi/traits.hpp>
#include <weft/status.hpp>
#include "base/id_table.hpp"
#include "base/pool.hpp"
#include "match/posted_list.hpp"
#include "match/unexpected_list.hpp"
#include "protocol/completion_queue.hpp"
#include "protocol/records.hpp"
#include "wire/message.hpp"

namespace weft::protocol {

// Bounds an endpoint is opened with; constant for its life.
struct endpoint_limits {
    std::uint64_t posted_receives = 0;   // per family
    std::uint64_t unexpected_bytes = 0;  // of all peers together
    std::uint64_t rendezvous = 0;        // outstanding, each direction
    std::uint64_t socket_period_ns = 0;  // how often work() looks at the transport's sockets
};

template <class Transport, spi::traits T>
class endpoint final : public weft_endpoint, private progressable {
  public:
    using channel = typename Transport::channel;
    using queue_type = completion_queue<T>;
    using entry_type = typename queue_type::entry_type;
    static constexpr spi::traits properties = T;

    // Binds to the queue; `outside_storage`: release() ends the object but does not free its memory.
    endpoint(std::unique_ptr<Transport> transport, queue_type& queue, const endpoint_limits&, bool outside_storage);
    endpoint(const endpoint&) = delete;
    endpoint& operator=(const endpoint&) = delete;
    // False when the queue could not take the endpoint (no memory); it must then be released at once.
    bool bound() const noexcept { return bound_; }

    // ---- the calls of the tables -------------------------------------------------------------------------

    status send(const std::byte* p, std::size_t n, std::uint64_t to, void* c) noexcept {
        return send_plain<false, false>(p, n, to, 0, c);
    }
    status send_quiet(const std::byte* p, std::size_t n, std::uint64_t to) noexcept {
        return send_plain<false, true>(p, n, to, 0, nullptr);
    }
    status tsend(const std::byte* p, std::size_t n, std::uint64_t to, std::uint64_t tag, void* c) noexcept {
        return send_plain<true, false>(p, n, to, tag, c);
    }
    status tsend_quiet(const std::byte* p, std::size_t n, std::uint64_t to, std::uint64_t tag) noexcept {
        return send_plain<true, true>(p, n, to, tag, nullptr);
    }
    status inject(const std::byte* p, std::size_t n, std::uint64_t to) noexcept {
        return inject_plain<false>(p, n, to, 0);
    }
    status tinject(const std::byte* p, std::size_t n, std::uint64_t to, std::uint64_t tag) noexcept {
        return inject_plain<true>(p, n, to, tag);
    }
    status recv(std::byte* p, std::size_t n, std::uint64_t from, void* c) noexcept {
        return receive_plain<false>(p, n, from, 0, 0, c);
    }
    status trecv(std::byte* p, std::size_t n, std::uint64_t from, std::uint64_t tag, std::uint64_t ignore,
                 void* c) noexcept {
        return receive_plain<true>(p, n, from, tag, ignore, c);
    }
    status sendv(const weft_piece* v, std::size_t n, std::uint64_t to, void* c) noexcept {
        return send_message<false>({v, n, to, 0, 0, 0, c}, 0);
    }
    status tsendv(const weft_piece* v, std::size_t n, std::uint64_t to, std::uint64_t tag, void* c) noexcept {
        return send_message<true>({v, n, to, tag, 0, 0, c}, 0);
    }
    status recvv(const weft_piece* v, std::size_t n, std::uint64_t from, void* c) noexcept {
        return receive_message<false>({v, n, from, 0, 0, 0, c}, 0);
    }
    status trecvv(const weft_piece* v, std::size_t n, std::uint64_t from, std::uint64_t tag, std::uint64_t ignore,
                  void* c) noexcept {
        return receive_message<true>({v, n, from, tag, ignore, 0, c}, 0);
    }
    status sendmsg(const weft_message& m, std::uint32_t flags) noexcept { return send_message<false>(m, flags); }
    status tsendmsg(const weft_message& m, std::uint32_t flags) noexcept { return send_message<true>(m, flags); }
    status recvmsg(const weft_message& m, std::uint32_t flags) noexcept { return receive_message<false>(m, flags); }
    status trecvmsg(const weft_message& m, std::uint32_t flags) noexcept { return receive_message<true>(m, flags); }

    status cancel(void* context) noexcept;
    status address(void* bytes, std::size_t* size) noexcept { return transport_->address(bytes, size); }
    status path(std::uint64_t to, weft_path*, weft_failure*) noexcept;
    status close() noexcept;
    void release() noexcept;

  private:
    using guard = std::lock_guard<typename queue_type::lock_type>;

    // What differs between the calls that start a message and is not worth a function of its own.
    struct send_options {
        bool quiet = false;
        bool inject = false;
        bool has_data = false;
        std::uint64_t data = 0;
    };
    struct receive_options {
        void* context = nullptr;
        std::uint32_t user = 0;  // bits of posted_receive::user
    };

    // ---- endpoint_send.hpp ---------------------------------------------------------------------------------

    template <bool Tagged, bool Quiet>
    status send_plain(const std::byte* p, std::size_t n, std::uint64_t to, std::uint64_t tag, void* c) noexcept;
    template <bool Tagged>
    status inject_plain(const std::byte* p, std::size_t n, std::uint64_t to, std::uint64_t tag) noexcept;
    template <bool Tagged, bool Quiet>
    status send_slow(const std::byte* p, std::size_t n, std::uint64_t to, std::uint64_t tag, void* c) noexcept;
    template <bool Tagged>
    status inject_slow(const std::byte* p, std::size_t n, std::uint64_t to, std::uint64_t tag) noexcept;
    template <bool Tagged>
    status send_message(const weft_message&, std::uint32_t flags) noexcept;
    template <bool Tagged, class Source>
    status start_send(const Source&, std::uint64_t to, std::uint64_t tag, void* context, const send_options&) noexcept;
    template <class Source>
    status start_rendezvous(channel&, const Source&, wire::kind, std::uint64_t tag, void* context,
                            const send_options&) noexcept;
    status usable_channel(std::uint64_t to, channel*& found) noexcept;
    bool grow_channels(std::uint64_t count) noexcept;

    // ---- endpoint_receive.hpp ------------------------------------------------------------------------------

    template <bool Tagged>
    status receive_plain(std::byte* p, std::size_t n, std::uint64_t from, std::uint64_t tag, std::uint64_t ignore,
                         void* c) noexcept;
    template <bool Tagged>
    status receive_slow(std::byte* p, std::size_t n, std::uint64_t from, std::uint64_t tag, std::uint64_t ignore,
                        void* c) noexcept;
    template <bool Tagged>
    status receive_message(const weft_message&, std::uint32_t flags) noexcept;
    template <bool Tagged>
    status start_receive(const destination&, std::uint64_t from, std::uint64_t tag, std::uint64_t ignore,
                         const receive_options&) noexcept;
    template <bool Tagged>
    status take_unexpected(unexpected_message&, const destination&, const receive_options&) noexcept;
    entry_type* take_messages(channel&, entry_type* out, entry_type* end) noexcept;
    bool take_small(channel&, entry_type* at) noexcept;
    template <bool Tagged>
    bool take_small(channel&, std::uint64_t tag, const std::byte* payload, std::uint32_t n, entry_type* at) noexcept;
    bool take_other(channel&, std::uint64_t word) noexcept;
    template <bool Tagged>
    bool arrive(channel&, std::uint64_t tag, const std::byte* payload, std::uint32_t n, std::uint64_t data,
                std::uint16_t flags) noexcept;
    template <bool Tagged>
    bool arrive_eager(channel&, std::uint64_t word, bool with_data) noexcept;
    template <bool Tagged>
    bool arrive_rendezvous(channel&, bool with_data) noexcept;
    void deliver_special(channel&, match::posted_receive&, std::uint64_t tag, const std::byte* payload, std::uint64_t n,
                         std::uint64_t data, std::uint16_t flags) noexcept;
    template <bool Tagged>
    bool keep_unexpected(channel&, std::uint64_t tag, const std::byte* payload, std::uint32_t n, std::uint64_t data,
                         std::uint16_t flags) noexcept;
    unexpected_message* new_unexpected(std::uint64_t payload) noexcept;
    void free_unexpected(unexpected_message&) noexcept;
    destination destination_of(const match::posted_receive&) const noexcept;

    template <bool Tagged>
    match::posted_list& posted() noexcept {
        return Tagged ? posted_tagged_ : posted_messages_;
    }
    template <bool Tagged>
    match::unexpected_list<unexpected_message>& unexpected() noexcept {
        return Tagged ? unexpected_tagged_ : unexpected_messages_;
    }

    // ---- endpoint_rendezvous.hpp ---------------------------------------------------------------------------

    bool begin_incoming(channel&, const destination&, void* context, bool quiet, std::uint64_t tag,
                        const wire::rendezvous_body&, std::uint16_t flags) noexcept;
    void finish_incoming(incoming&, errc) noexcept;
    void finish_outgoing(outgoing&, errc) noexcept;
    void progress_bulk() noexcept;
    void take_controls(channel&) noexcept;
    bool take_segment(channel&, std::uint32_t n) noexcept;
    void take_grant(channel&) noexcept;
    void push_segments(channel&) noexcept;
    void pull_some(incoming&) noexcept;
    void ask_for_segments(incoming&) noexcept;
    template <class Body>
    void post_control(channel&, wire::kind, std::uint64_t key, const Body&) noexcept;
    void flush_controls(channel&) noexcept;

    // ---- endpoint_lifetime.hpp -----------------------------------------------------------------------------

    void progress() noexcept;
    [[gnu::cold, gnu::noinline]] void work() noexcept;
    void attach(std::unique_ptr<channel>) noexcept;
    void peer_closed(std::uint64_t peer) noexcept;
    void fault(channel&, const char* what) noexcept;
    void end_operations(channel&, errc) noexcept;
    void finalize(channel&, errc) noexcept;
    void cancel_everything() noexcept;
    static std::size_t poll(weft_queue*, void* entries, std::size_t room) noexcept;
    static std::size_t poll_ready(queue_type&, entry_type* entries, entry_type* out, entry_type* end,
                                  const typename queue_type::polled* at) noexcept;
    static std::size_t poll_backlog(queue_type&, entry_type* entries, entry_type* out, entry_type* end,
                                    const typename queue_type::polled* at) noexcept;
    static constexpr weft_queue_ops poll_table = {sizeof(weft_queue_ops), poll, queue_type::release_handle};
    // Of the channel, of the endpoint and of the queue: each looks at its own count.
    void count_bulk_work(channel& ch, std::int32_t n) noexcept {
        ch.bulk_work += static_cast<std::uint32_t>(n);
        bulk_work_ += static_cast<std::uint32_t>(n);
        queue_->add_bulk_work(n);
    }
    static const weft_endpoint_ops closed_table;

    // Where several threads call, one may have closed the endpoint while another waited for the lock. Where one does,
    // the calls of a closed endpoint do not get here, see closed_table.
    bool shut() const noexcept { return T.locked && closed_; }

    void report(void* context, op what, errc outcome, std::uint64_t size, std::uint64_t source, std::uint64_t tag,
                std::uint64_t data, std::uint16_t flags) noexcept {
        queue_->emit({context, outcome, what, flags, size, source, data, tag});
    }

    // Hot: what a small send and an idle poll read.
    queue_type* queue_;
    channel** channels_ = nullptr;  // by peer; never null below channel_count_
    std::uint64_t channel_count_ = 0;
    channel** active_ = nullptr;  // open channels, the ones that are polled
    std::uint32_t active_count_ = 0;
    std::uint32_t bulk_work_ = 0;  // sum of the channels' bulk_work
    std::uint32_t eager_max_;

    match::posted_list posted_tagged_;
    match::posted_list posted_messages_;
    match::unexpected_list<unexpected_message> unexpected_tagged_;
    match::unexpected_list<unexpected_message> unexpected_messages_;

    // Warm and cold.
    std::unique_ptr<Transport> transport_;
    endpoint_limits limits_;
    std::uint64_t unexpected_bytes_ = 0;
    base::pool<unexpected_message> unexpected_pool_;
    base::pool<piece_list> piece_pool_;
    base::pool<outgoing> outgoing_pool_;
    base::pool<incoming> incoming_pool_;
    base::id_table<outgoing> outgoing_;
    base::id_table<incoming> incoming_;
    base::intrusive_list<incoming> pulls_;
    std::vector<channel*> channel_table_;  // storage of channels_
    std::vector<channel*> active_table_;  // storage of active_
    std::vector<std::unique_ptr<channel>> owned_;  // the real channels
    std::uint32_t closing_count_ = 0;  // channels whose peer is gone but which still hold messages
    bool bound_ = false;
    bool closed_ = false;
    bool outside_storage_;
    channel absent_;  // stands for peers without contact: has no slot, so that sends take the slow path
    channel gone_;  // stands for peers that died or closed
};

}  // namespace weft::protocol

#include "protocol/endpoint_lifetime.hpp"
#include "protocol/endpoint_receive.hpp"
#include "protocol/endpoint_rendezvous.hpp"
#include "protocol/endpoint_send.hpp"
