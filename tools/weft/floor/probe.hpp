// Where the two processes really run: the time of a cache-line ping-pong, and what it says about their placement.
//
// A virtual machine's host moves the processors; pinning does not help. The same ping-pong then takes 26, 62, 230 or
// 1,000 ns and changes within a second, so every shared-memory figure needs a probe beside it.
#pragma once
#include <cstddef>
#include <cstdint>
#include "floor/partner_link.hpp"
#include "weft/result.hpp"

namespace weft::tool {

// Measured on Zen 3; the gaps between the classes are wide enough for other server processors of that age.
enum class placement : std::uint8_t {
    one_core,    // below 40 ns half round trip: two threads of one core
    one_cache,   // 40 to 120 ns: two cores under one last-level cache; the class figures are quoted for
    two_caches,  // 120 to 500 ns
    far,         // above: another socket, or two processes taking turns on one processor
};
inline constexpr std::size_t placement_count = 4;

placement classify(double half_round_trip_ns) noexcept;
const char* name_of(placement p) noexcept;

// Initiator: half a round trip in ns, the median of batches over about 150 us. The responder answers in serve().
result<double> probe(partner_link& link);

// Responder's part; called by serve(). False when the link broke.
bool answer_probe(partner_link& link) noexcept;

}  // namespace weft::tool
