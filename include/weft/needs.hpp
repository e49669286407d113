// What the application requires of an endpoint, and what it would merely like.
//
// Needs are requirements, not hints: an endpoint that cannot meet one is refused, and the refusal says which
// one, what was offered instead, and what to change. Everything here is constant for the endpoint's life and
// is therefore never tested on the data path.
#pragma once
#include <cstdint>
#include <string>

namespace weft {

enum class reliability : std::uint8_t { unreliable, reliable };
enum class ordering : std::uint8_t { none, per_peer };
enum class threading : std::uint8_t {
    one_thread,  // all calls on the endpoint and its queue come from one thread (or are serialised by the caller)
    any_thread,  // any thread may call at any time
};
enum class progress : std::uint8_t {
    by_caller,   // the library works while the caller polls
    autonomous,  // operations of others are served although the caller computes
};

struct needs {
    reliability deliver = reliability::reliable;
    ordering order = ordering::per_peer;
    threading threads = threading::one_thread;
    progress advance = progress::by_caller;
    std::uint64_t message_size_min = 1u << 20;   // bytes; the largest message that must fit
    std::uint64_t inject_size_min = 16;          // bytes; must be sendable without keeping the buffer
    std::uint64_t posted_receives_min = 1024;    // receives that must be postable at once
    std::uint64_t iov_count_min = 4;             // pieces per vectored call
    bool remote_data = false;                    // eight bytes beside the message, see weft::remote_data
    bool wait_fd = false;                        // completions must be waitable through a descriptor
    std::string provider{};                      // pin one provider by name; empty lets the library rank
};

struct preferences {
    std::string provider{};  // ranked first if it meets the needs
};

}  // namespace weft
