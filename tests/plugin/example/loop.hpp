// Provider "loop": messages between the endpoints of one domain, inside one process.
//
// An example of a provider as a vendor would write it outside of weft's tree: it includes installed headers only.
// Small rather than fast: one lock per domain, a message is copied into its receive or kept until one is posted.
#pragma once
#include <weft/plugin.h>
#include <weft/spi/tables.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include <weft/entry.hpp>

namespace loop {

using weft::errc;
using weft::status;

inline constexpr std::uint64_t inject_size_max = 4096;       // it is copied anyway; a page is plenty
inline constexpr std::uint64_t iov_count_max = 16;           // pieces of one message
inline constexpr std::uint64_t posted_receives_max = 65536;  // only memory limits it; a number to answer `needs` with

// Completions of one queue. Endpoints share it, so it does not matter whether they or the queue go first.
struct completions {
    std::uint32_t format = WEFT_ENTRY_TAGGED;
    std::uint64_t depth = 0;
    std::deque<weft::entry::tagged> entries;  // the widest format; poll writes the part that was asked for
};

class endpoint;

// What the objects of a domain share.
class room {
  public:
    room(weft_host* host, std::uint64_t message_size_max, std::uint64_t unexpected_max);
    ~room();
    room(const room&) = delete;
    room& operator=(const room&) = delete;

    const std::uint64_t message_size_max;
    const std::uint64_t unexpected_max;
    weft_host* const host;

    std::mutex lock;  // guards everything below and all endpoints and completions of the domain
    std::map<std::uint64_t, endpoint*> open;  // by number
    std::uint64_t next_number = 1;
    std::vector<std::uint64_t> peers;  // the address vector: peer -> number

    std::uint64_t enter(std::uint64_t number);
};

struct queue final : weft_queue {
    explicit queue(std::shared_ptr<room>, const weft_queue_params&);
    std::shared_ptr<room> where;
    std::shared_ptr<completions> done = std::make_shared<completions>();
};

class endpoint final : public weft_endpoint {
  public:
    endpoint(std::shared_ptr<room>, std::shared_ptr<completions>, std::uint32_t capabilities, bool placed);
    ~endpoint();

    status send(const std::byte* p, std::size_t n, std::uint64_t to, void* c) noexcept;
    status send_quiet(const std::byte* p, std::size_t n, std::uint64_t to) noexcept;
    status inject(const std::byte* p, std::size_t n, std::uint64_t to) noexcept;
    status sendv(const weft_piece* v, std::size_t n, std::uint64_t to, void* c) noexcept;
    status sendmsg(const weft_message& m, std::uint32_t flags) noexcept;
    status recv(std::byte* p, std::size_t n, std::uint64_t from, void* c) noexcept;
    status recvv(const weft_piece* v, std::size_t n, std::uint64_t from, void* c) noexcept;
    status recvmsg(const weft_message& m, std::uint32_t flags) noexcept;
    status tsend(const std::byte* p, std::size_t n, std::uint64_t to, std::uint64_t tag, void* c) noexcept;
    status tsend_quiet(const std::byte* p, std::size_t n, std::uint64_t to, std::uint64_t tag) noexcept;
    status tinject(const std::byte* p, std::size_t n, std::uint64_t to, std::uint64_t tag) noexcept;
    status tsendv(const weft_piece* v, std::size_t n, std::uint64_t to, std::uint64_t tag, void* c) noexcept;
    status tsendmsg(const weft_message& m, std::uint32_t flags) noexcept;
    status trecv(std::byte* p, std::size_t n, std::uint64_t from, std::uint64_t tag, std::uint64_t ignore,
                 void* c) noexcept;
    status trecvv(const weft_piece* v, std::size_t n, std::uint64_t from, std::uint64_t tag, std::uint64_t ignore,
                  void* c) noexcept;
    status trecvmsg(const weft_message& m, std::uint32_t flags) noexcept;

    status cancel(void* context) noexcept;
    status address(void* bytes, std::size_t* size) noexcept;
    status path(std::uint64_t to, weft_path* p, weft_failure* why) noexcept;
    status close() noexcept;
    void release() noexcept;

  private:
    enum family : std::uint8_t { plain, tagged };
    struct receive {
        std::vector<weft_piece> pieces;
        std::uint64_t from;  // number of the sender, or any
        std::uint64_t tag, ignore;
        void* context;
    };
    struct message {
        std::vector<std::byte> bytes;
        std::uint64_t source;  // number of the sender
        std::uint64_t tag, data;
        bool has_data;
    };

    status start_send(family, const weft_message&, std::uint32_t flags) noexcept;
    status start_receive(family, const weft_message&, std::uint32_t flags) noexcept;
    void arrive(family, message&&);
    void finish(const receive&, const message&);
    static bool matches(const receive&, const message&) noexcept;

    const std::shared_ptr<room> where_;
    const std::shared_ptr<completions> done_;
    const std::uint32_t capabilities_;
    const bool placed_;  // the caller owns the memory
    std::uint64_t number_;
    bool closed_ = false;
    std::deque<receive> posted_[2];
    std::deque<message> unexpected_[2];
};

}  // namespace loop

extern "C" weft_provider weft_provider_loop;
