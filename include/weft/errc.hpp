// Every way a call can end, and the error category they belong to.
//
// Texts and remedies live in one table (`describe`), from which error messages, `weft explain` and the
// documentation are made. Codes are part of the ABI: new ones are appended, none ever changes its number.
#pragma once
#include <cstdint>

namespace weft {

enum class errc : std::int32_t {
    ok = 0,
    try_again = 1,          // no room now; poll the completion queue and repeat the call
    peer_unreachable = 2,   // nobody answers at that address (yet); a later call tries again
    peer_gone = 3,          // the peer was there and has died or closed; final for this peer
    truncated = 4,          // the message did not fit its receive; this message only
    canceled = 5,           // cancel() or close() ended the operation
    not_supported = 6,      // this endpoint cannot do that
    invalid_argument = 7,   // an argument is out of its documented range
    message_too_long = 8,   // larger than the endpoint's limit for this call
    no_memory = 9,          // memory, or an address space or lock limit, is exhausted
    no_descriptors = 10,    // RLIMIT_NOFILE (or the system-wide limit) is exhausted
    timed_out = 11,         // the deadline passed
    closed = 12,            // the object has been closed
    stale_after_fork = 13,  // the object was inherited through fork(); open a fresh one in the child
    no_message = 14,        // nothing matches (peek, claim)
    permission_denied = 15, // the operating system or the peer's policy forbids it
    version_mismatch = 16,  // the other side speaks another wire or plug-in version
    protocol_error = 17,    // the peer sent something that no correct peer sends
    bad_address = 18,       // an address string or address bytes cannot be understood
    no_offer = 19,          // no provider meets the needs; the text lists every refusal
    unknown_name = 20,      // a setting, provider or property of that name does not exist
    system_error = 21,      // the operating system refused; see failure::native (errno)
};

// What a code means and what a user can do about it. Both are static strings, never null.
struct errc_text {
    const char* name;    // "peer_gone"
    const char* text;    // one clause, lower case
    const char* remedy;  // one sentence: what to do
};
}  // namespace weft
