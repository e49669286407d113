// What discovery answers: offers, best first, and for everything that did not make it a refusal that says why.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>
#include "capabilities.hpp"

namespace weft {

// One way of meeting the needs.
struct offer {
    std::string provider, device;
    std::string reach;  // "this host", ...
    std::string why;    // one clause: why this rank
    capset abilities;
    int rank = 0;  // lower is better
    std::uint64_t inline_max = 0, eager_max = 0, message_size_max = 0, inject_size_max = 0;  // bytes
    std::uint64_t posted_receives_max = 0, iov_count_max = 0;
    std::vector<std::pair<std::string, std::string>> details;  // thresholds and mechanisms, by name
};

// Why a provider or device is not among the offers: the first requirement that it did not meet.
struct refusal {
    std::string provider, device, property, wanted, offered, remedy;

    // "shm: message size: wanted at least 8 GiB, offered 4 GiB; lower needs::message_size_min"
    std::string text() const {
        return provider + (device.empty() ? "" : " (" + device + ")") + ": " + property + ": wanted " + wanted +
               ", offered " + offered + "; " + remedy;
    }
};

struct discovery {
    std::vector<offer> offers;  // best first
    std::vector<refusal> refusals;
};

}  // namespace weft
