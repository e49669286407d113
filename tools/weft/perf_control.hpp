// How the client of a measurement tells the other side what to do: tagged weft messages on an endpoint of their own.
//
// Client: hello (the terms) -> welcome; then per slice order -> ready -> done; leave at the end. The other side needs
// no options. Whatever arrives is checked before it is believed.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "perf_watch.hpp"
#include "perf_work.hpp"
#include "weft/fabric.hpp"

namespace weft::tool {

enum class control_kind : std::uint32_t { hello = 1, welcome, order, ready, done, leave, refused };

// Plain memory, the same on both sides: one host, one program. The version changes with any change of it.
struct control_message {
    static constexpr std::uint32_t magic_wanted = 0x70657266;  // "perf"
    static constexpr std::uint32_t version_wanted = 1;

    std::uint32_t magic = magic_wanted;
    std::uint32_t version = version_wanted;
    control_kind kind = control_kind::hello;
    std::int32_t error = 0;                      // done, refused: errc
    slice_order order;                           // order
    std::uint64_t size_max = 0, memory_size = 0;  // hello: the terms, with the next four
    std::uint32_t window_max = 0;
    family op = family::send;
    threading threads = threading::one_thread;
    checking check = checking::off;
    std::int32_t processor = -1;  // hello: where the client runs
    double figure = 0;            // done
    std::uint32_t address_size = 0;
    std::array<std::byte, address::capacity> address_bytes{};  // hello, welcome: of the endpoint under test
    std::array<char, 256> text{};                              // done, refused

    void set_address(const address& a) noexcept;
    std::span<const std::byte> address_view() const noexcept;
    void set_failure(const failure& f) noexcept;
    failure get_failure() const;
};

// An endpoint for control messages, with one receive for newcomers and one for the partner of the moment.
class control_end {
  public:
    static result<std::unique_ptr<control_end>> open(const fabric& fab, std::string_view provider,
                                                     std::string_view target, watch& w);
    ~control_end();
    control_end(const control_end&) = delete;
    control_end& operator=(const control_end&) = delete;

    std::string address_text() const { return endpoint_.address_text(); }
    std::string_view provider() const noexcept { return provider_; }
    result<peer> resolve(std::string_view text) { return domain_.resolve(text); }
    std::string text_of(peer p) const { return domain_.text_of(p); }

    struct arrival_of {
        control_message message;
        peer from;
    };

    // Receives hellos of anybody from now on; one at a time is taken.
    bool expect_newcomers();
    std::optional<arrival_of> take_newcomer();
    // Receives the next message of this peer. Once per message; `drop_partner` ends it.
    bool expect(peer partner);
    std::optional<arrival_of> take();
    void drop_partner();

    // Sends and waits for the completion; false with a reason in the watch.
    bool send(peer to, const control_message& m);
    // Waits for the partner's next message; false as above. `each_time` is called in every turn (progress elsewhere).
    template <class EachTime>
    std::optional<control_message> wait(EachTime each_time) {
        while (true) {
            if (auto got = take()) return got->message;
            if (watch_.failed() || !each_time() || !watch_.idle()) return {};
        }
    }
    // Takes what has arrived; false when the partner is lost (the watch knows).
    bool poll();
    // Whether the partner has reported a failure that nobody has taken yet.
    bool failure_waits() const noexcept { return next_.arrived && next_.message.error != 0; }

  private:
    control_end(domain d, completion_queue<entry::tagged> q, endpoint<caps::tagged> ep, watch& w);

    struct inbox {
        control_message message;
        peer from = any_peer;
        bool posted = false, arrived = false;
    };
    bool post(inbox& box, peer from, tag g, std::uintptr_t number);

    domain domain_;
    completion_queue<entry::tagged> queue_;
    watch& watch_;
    std::string provider_;
    inbox newcomer_, next_;
    control_message outgoing_;
    bool sent_ = true;
    endpoint<caps::tagged> endpoint_;  // goes first: until then the boxes are in use
};

}  // namespace weft::tool
