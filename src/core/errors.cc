// The one table of codes: name, text and remedy. Everything that shows a code to a person is made from it.
#include <cstddef>
#include <new>
#include <system_error>

#include <weft/result.hpp>
#include <weft/status.hpp>

namespace weft {
namespace {

struct row {
    errc_text describe;
    const char* name_and_text;
};

// Only here so that name, code and the joined text cannot disagree.
#define WEFT_ROW(code, text, remedy) {{#code, text, remedy}, #code ": " text}

// Indexed by the code's number.
constexpr row rows[] = {
    WEFT_ROW(ok, "success", "Nothing needs to be done."),
    WEFT_ROW(try_again, "there is no room at the moment, nothing was started",
             "Poll the completion queue, then repeat the call; a deeper queue makes it rarer."),
    WEFT_ROW(peer_unreachable, "nobody answers at that address",
             "Check that the peer runs and that the address is the one it printed; a later call tries again."),
    WEFT_ROW(peer_gone, "the peer was there and has died or closed",
             "Forget this peer; its successor has another address, which has to be resolved anew."),
    WEFT_ROW(truncated, "the message did not fit into the buffer of its receive",
             "Post a buffer that is as large as the largest message to be expected."),
    WEFT_ROW(canceled, "the operation was ended by cancel or close",
             "Nothing needs to be done; the buffer is free again."),
    WEFT_ROW(not_supported, "this endpoint cannot do that",
             "Ask for the ability or property when the endpoint is opened, or choose another provider."),
    WEFT_ROW(invalid_argument, "an argument is out of its documented range",
             "Compare the arguments with the documentation of the call."),
    WEFT_ROW(message_too_long, "the message is larger than this call's limit",
             "Stay within message_size_max and inject_size_max of the offer, or ask for more in the needs."),
    WEFT_ROW(no_memory, "memory, or a limit on memory, is exhausted",
             "Raise the limit that the text names (ulimit, cgroup), or ask for smaller queues and messages."),
    WEFT_ROW(no_descriptors, "the limit on open files is exhausted",
             "Raise RLIMIT_NOFILE (ulimit -n) or close what is not needed."),
    WEFT_ROW(timed_out, "the deadline passed", "Wait longer, or find out why the other side does not answer."),
    WEFT_ROW(closed, "the object has been closed", "Open a new one; a closed object is never reopened."),
    WEFT_ROW(stale_after_fork, "the object was inherited through fork",
             "Open a fresh fabric in the child process; only the parent may go on using this one."),
    WEFT_ROW(no_message, "no message matches", "Poll the completion queue and look again later."),
    WEFT_ROW(permission_denied, "the operating system or the peer's policy forbids it",
             "Run both sides as the same user, or give the permission that the text names."),
    WEFT_ROW(version_mismatch, "the other side speaks another version",
             "Use the same release of the library, and plug-ins built for it, on both sides."),
    WEFT_ROW(protocol_error, "the peer sent something that no correct peer sends",
             "Check that the address belongs to a weft process of a compatible release; if so, report it as a bug."),
    WEFT_ROW(bad_address, "the address cannot be understood",
             "Use an address text exactly as the peer's address_text() gave it, such as shm://<32 hex digits>."),
    WEFT_ROW(no_offer, "no provider meets the needs",
             "Read the refusals in the text: each names the first requirement that was not met and what to change."),
    WEFT_ROW(unknown_name, "there is no setting, provider or property of that name",
             "Check the spelling; the text lists the nearest names that exist."),
    WEFT_ROW(system_error, "the operating system refused",
             "Look at the number of the system's error (errno) and at the text, which says what was attempted."),
};
#undef WEFT_ROW

static_assert(std::size(rows) == static_cast<std::size_t>(errc::system_error) + 1, "each code has one row");

constexpr row unknown = {{"unknown", "a code that this release does not know",
                          "It comes from a newer plug-in or library; look it up in that one's documentation."},
                         "unknown: a code that this release does not know"};

const row& row_of(errc code) noexcept {
    const auto index = static_cast<std::size_t>(static_cast<std::uint32_t>(code));
    return index < std::size(rows) ? rows[index] : unknown;
}

class weft_category final : public std::error_category {
  public:
    const char* name() const noexcept override { return "weft"; }
    std::string message(int code) const override { return row_of(static_cast<errc>(code)).name_and_text; }
    // So that `error == std::errc::not_enough_memory` works where the standard has a word for it.
    std::error_condition default_error_condition(int code) const noexcept override {
        switch (static_cast<errc>(code)) {
            case errc::try_again: return std::errc::resource_unavailable_try_again;
            case errc::peer_unreachable: return std::errc::host_unreachable;
            case errc::canceled: return std::errc::operation_canceled;
            case errc::not_supported: return std::errc::operation_not_supported;
            case errc::invalid_argument: return std::errc::invalid_argument;
            case errc::message_too_long: return std::errc::message_size;
            case errc::no_memory: return std::errc::not_enough_memory;
            case errc::no_descriptors: return std::errc::too_many_files_open;
            case errc::timed_out: return std::errc::timed_out;
            case errc::no_message: return std::errc::no_message;
            case errc::permission_denied: return std::errc::permission_denied;
            case errc::protocol_error: return std::errc::protocol_error;
            default: return {code, *this};
        }
    }
};

}  // namespace

const std::error_category& category() noexcept {
    // Made at first use and never destroyed: error codes may be looked at while the program ends.
    alignas(weft_category) static std::byte storage[sizeof(weft_category)];
    static const weft_category* const only = new (storage) weft_category;
    return *only;
}

errc_text describe(errc code) noexcept { return row_of(code).describe; }

void status::throw_error(errc code) { throw std::system_error(make_error_code(code)); }

const char* status::text_of(errc code) noexcept { return row_of(code).name_and_text; }

}  // namespace weft
