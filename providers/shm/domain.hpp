// A shm domain: its identity, the address vector, the endpoints by number, and contact with other domains.
//
// Identity is a random 128-bit number; the lower 32 bits are the endpoint's. Processes meet at a local socket named
// after the upper 96 bits, hand over memory there, and notice each other's death by it. Everything here is cold and
// under one mutex; what concerns an endpoint is put into its port's inbox, which the endpoint's own thread empties.
#pragma once
#include <weft/plugin.h>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>
#include <weft/result.hpp>
#include <weft/status.hpp>
#include "base/random.hpp"
#include "os/descriptor.hpp"
#include "os/epoll.hpp"
#include "os/mapping.hpp"
#include "os/unix_socket.hpp"
#include "shm/copy_choice.hpp"
#include "shm/region.hpp"
#include "wire/contact.hpp"

namespace weft::shm {

class port;

// What the settings of the provider say, read once when a domain is opened.
struct options {
    copy_mode copy = copy_mode::automatic;
    std::uint32_t eager_max = 0;
    std::uint64_t unexpected_bytes = 0;
    std::uint64_t contact_period_ns = 0;
    std::string directory;  // empty: abstract namespace
    bool any_user = false;
};

class domain final {
  public:
    static result<std::shared_ptr<domain>> open(weft_host*, const options&);
    ~domain();
    domain(const domain&) = delete;
    domain& operator=(const domain&) = delete;

    const options& settings() const noexcept { return options_; }
    base::identity identity_of_port(std::uint32_t number) const noexcept {
        return {identity_.high, identity_.low | number};
    }
    void log(int level, const std::string& text) const noexcept;

    // ---- address vector; any thread --------------------------------------------------------------------------

    // Errors: bad_address, no_memory.
    result<std::uint64_t> resolve(std::string_view text);
    result<std::uint64_t> insert(base::identity);
    std::optional<base::identity> peer(std::uint64_t index) const;
    std::uint64_t known_peers() const noexcept { return known_peers_.load(std::memory_order_acquire); }  // see insert

    // ---- endpoints -------------------------------------------------------------------------------------------

    // Gives the port its number. From now on peers can make contact.
    void add(port&);
    // Tells peers; nothing is put into the port's inbox any more.
    void remove(port&) noexcept;

    // Starts contact, or tells how it stands: try_again while it is under way. An attempt that failed is answered
    // once with its reason; the next call tries again.
    status contact(port&, std::uint64_t peer) noexcept;
    // Why the last attempt failed, in words; empty when there was none.
    std::string why_not(port&, std::uint64_t peer) const;

    // Looks at the sockets. Returns at once if another thread is at it, or, unless urgent, did so a moment ago.
    void progress(bool urgent) noexcept;

  private:
    struct link;  // a socket to another domain
    struct record;  // contact between one of our endpoints and one peer
    using record_key = std::pair<std::uint32_t, base::identity>;

    domain(weft_host*, const options&);

    os::socket_name socket_name_of(base::identity) const;
    static base::identity domain_part(base::identity id) noexcept {
        return {id.high, id.low & ~std::uint64_t{0xffffffff}};
    }
    static std::uint32_t number_part(base::identity id) noexcept { return static_cast<std::uint32_t>(id.low); }

    // All below: under the mutex. contact.cc.
    status start_contact(port&, std::uint64_t peer, base::identity remote);
    status start_local_contact(port&, std::uint64_t peer, base::identity remote);
    result<link*> link_to(base::identity remote_domain);
    result<link*> add_link(os::connection, base::identity remote_domain);
    void drop_link(std::uint64_t key, const char* why);
    void accept_links();
    void read_link(std::uint64_t key);
    bool write_link(link&);
    void send(link&, const wire::contact&, os::descriptor memory);
    void handle(link&, const wire::contact&, os::datagram&);
    void handle_open(link&, const wire::contact&, os::datagram&);
    void handle_accept(link&, const wire::contact&);
    void handle_refuse(link&, const wire::contact&);
    void handle_close(link&, const wire::contact&);
    void refuse(link&, const wire::contact& opened, wire::contact_reason, const std::string& text);
    void answer(link&, const wire::contact&);
    void learn(link&, const wire::contact&);
    void fail(record&, errc, std::string text);
    record* find(std::uint32_t port, base::identity remote) noexcept;
    std::uint64_t insert_locked(base::identity);
    wire::contact about(wire::contact_kind, base::identity from, base::identity to) const;

    weft_host* host_;
    options options_;
    base::identity identity_;  // lower 32 bits zero
    std::uint64_t probe_value_ = 0;

    mutable std::mutex mutex_;
    os::listener listener_;
    os::epoll epoll_;
    std::uint64_t last_progress_ns_ = 0;
    std::uint64_t next_link_ = 1;  // key 0 is the listener
    std::map<std::uint64_t, std::unique_ptr<link>> links_;
    std::map<record_key, record> records_;
    std::unordered_map<std::uint32_t, port*> ports_;
    std::uint32_t next_port_ = 1;

    std::vector<base::identity> peers_;
    std::map<base::identity, std::uint64_t> peer_index_;
    std::atomic<std::uint64_t> known_peers_{0};
};

}  // namespace weft::shm
