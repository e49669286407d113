// The second process of a measurement: takes its part in whatever the initiator asks for, until it is told to stop.
#pragma once
#include <cstdint>
#include <functional>
#include "floor/floor.hpp"
#include "floor/partner_link.hpp"
#include "weft/result.hpp"

namespace weft::tool {

// Serves probes and floors by itself, and each call_responder(argument) by running on_call(argument): the mirrored
// part of the caller's own test. Returns after stop_responder(), or with a failure when the initiator died or gave up
// or when on_call failed (which ends the link for both).
result<void> serve(partner_link& link, const floor_buffers& buffers,
                   const std::function<result<void>(std::uint64_t)>& on_call);

// Initiator: has the responder start on_call(argument), runs `mine` at the same time, and waits for both.
result<double> call_responder(partner_link& link, std::uint64_t argument, const std::function<result<double>()>& mine);

// Initiator: both processes sleep for a moment. Afterwards the scheduler owes them time: on a busy machine a slice
// that starts rested is less often interrupted.
result<void> rest(partner_link& link, std::uint64_t ns);

// Initiator: lets serve() return.
result<void> stop_responder(partner_link& link);

}  // namespace weft::tool
