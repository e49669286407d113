// What `weft perf` was asked for, after the command line has been checked.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "floor/floor.hpp"
#include "weft/needs.hpp"

namespace weft::tool {

enum class family : std::uint8_t { send, tagged };
enum class checking : std::uint8_t { off, on };
enum class side : std::uint8_t { local, listen, client };

struct perf_options {
    quantity test = quantity::latency;
    side where = side::local;
    std::string target;    // side::client: the address
    std::string provider;  // empty: the library ranks
    family op = family::send;
    std::vector<std::uint64_t> sizes;
    std::uint64_t iterations = 0;  // per size; 0: as long as `seconds`
    double seconds = 0.1;          // per size; enough for some 10 slices
    std::uint32_t window = 0;      // transfers in flight; 0: by test, see default_window
    threading threads = threading::one_thread;
    checking check = checking::off;
    std::vector<int> processors;  // initiator's, responder's; empty: chosen
    bool with_floor = false;
    bool json = false;
    bool chart = true;
    bool once = false;  // side::listen: one client, then end
    std::string html;   // file; empty: none
};

// Enough in flight to hide the way there and back: 64 small messages are some microseconds of work. Larger ones need
// fewer, and fewer stay in the caches.
inline constexpr std::uint32_t window_rate = 64;
inline constexpr std::uint32_t window_bandwidth = 16;
inline constexpr std::uint32_t window_max = 1024;  // needs::posted_receives_min of an ordinary endpoint

inline std::uint32_t window_of(const perf_options& o) noexcept {
    if (o.window != 0) return o.window;
    return o.test == quantity::rate ? window_rate : window_bandwidth;
}

const char* name_of(quantity q) noexcept;
const char* name_of(family f) noexcept;
const char* name_of(threading t) noexcept;

int perf_local(const perf_options& options);
int perf_listen(const perf_options& options);
int perf_client(const perf_options& options);

}  // namespace weft::tool
