// The shm endpoint: the protocol engine over a shm port, one instantiation per property set.
#pragma once
#include <weft/plugin.h>
#include <memory>
#include <weft/spi/traits.hpp>
#include "protocol/endpoint.hpp"
#include "shm/port.hpp"

namespace weft::shm {

template <spi::traits T>
using endpoint = protocol::endpoint<port, T>;

// What instantiate.cc compiles for the rest of the provider.
struct endpoint_request {
    std::shared_ptr<domain> owner;
    spi::traits want;
    protocol::queue_base* queue = nullptr;
    protocol::endpoint_limits limits;
    void* storage = nullptr;
};
// Null, with the failure filled in, when there is no memory. `chosen` is the set whose code serves the endpoint.
weft_endpoint* make_endpoint(const endpoint_request&, const void** face, spi::traits& chosen, weft_failure&) noexcept;
// Null when there is no memory.
protocol::queue_base* make_queue(spi::traits, std::uint64_t depth) noexcept;
// Largest size and alignment of all instantiations, for callers who bring their own storage.
std::size_t endpoint_size(std::size_t& alignment) noexcept;

}  // namespace weft::shm
