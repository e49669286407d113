#include "floor/probe.hpp"
#include <vector>
#include "floor/exchange.hpp"

namespace weft::tool {

placement classify(double half_round_trip_ns) noexcept {
    if (half_round_trip_ns < 40) return placement::one_core;
    if (half_round_trip_ns <= 120) return placement::one_cache;
    if (half_round_trip_ns <= 500) return placement::two_caches;
    return placement::far;
}

const char* name_of(placement p) noexcept {
    switch (p) {
        case placement::one_core: return "one core";
        case placement::one_cache: return "one cache";
        case placement::two_caches: return "two caches";
        case placement::far: return "far";
    }
    return "unknown";
}

result<double> probe(partner_link& link) {
    constexpr ping_pong_plan plan{.rounds_per_batch = 16, .duration_ns = 150'000};
    std::uint64_t token = 0;
    slot_exchange<sizeof token> line(link, as_bytes_of(token), as_bytes_of(token));
    line.clear();
    if (!link.ask({.kind = request_kind::probe, .size = sizeof token})) return link.why();
    return ping_pong(link, line, plan);
}

bool answer_probe(partner_link& link) noexcept {
    std::uint64_t token = 0;
    slot_exchange<sizeof token> line(link, as_bytes_of(token), as_bytes_of(token));
    return answer_ping_pong(line);
}

}  // namespace weft::tool
