// The log of one fabric: levels per subsystem, the application's sink or standard error, and no floods.
//
// A text is shown once; its repeats are counted and shown with the count at the 100th, 1000th, ... time. Different
// texts, other than debug, are limited to a rate, and the next line says how many were left out.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <weft/log.hpp>
#include <weft/result.hpp>

#include "base/clock.hpp"
#include "core/limits.hpp"

namespace weft::core {

struct log_levels {
    log_level standard = log_level::warning;
    std::vector<std::pair<std::string, log_level>> exceptions;  // by subsystem, the last of a name counts

    log_level of(std::string_view subsystem) const noexcept;
};

// "warning", "shm=debug,core=info", "info,shm=debug". The failure's text names the part that is wrong.
result<log_levels> parse_log_levels(std::string_view text);

const char* level_name(log_level) noexcept;  // "warning"

// Threads: set_levels before others know the logger; everything else from any thread.
class logger {
  public:
    using clock = std::uint64_t (*)() noexcept;  // nanoseconds

    explicit logger(log_sink sink, clock now = base::now_ns) : sink_(std::move(sink)), now_(now), full_at_(now()) {}

    void set_levels(log_levels levels) { levels_ = std::move(levels); }
    bool enabled(log_level level, std::string_view subsystem) const noexcept {
        return level != log_level::off && level <= levels_.of(subsystem);
    }
    // A sink that throws or calls back loses the line.
    void log(log_level level, std::string_view subsystem, std::string_view text) noexcept;

  private:
    struct remembered {
        std::uint64_t key = 0;  // hash of level, subsystem and text; 0 is free
        std::uint64_t count = 0;
    };
    // How often this text has come, including now.
    std::uint64_t count_of(log_level, std::string_view subsystem, std::string_view text) noexcept;
    bool within_rate() noexcept;
    void deliver(log_level, std::string_view subsystem, std::string_view text);

    log_levels levels_;
    log_sink sink_;
    clock now_;
    std::mutex lock_;                       // the sink is called by one thread at a time
    std::atomic<std::thread::id> inside_{};  // who holds the lock, so that a sink that calls back does not hang
    std::array<remembered, limits::remembered_texts> seen_{};
    std::uint64_t full_at_;  // the moment from which the whole burst is available again
    std::uint64_t left_out_ = 0;
};

}  // namespace weft::core
