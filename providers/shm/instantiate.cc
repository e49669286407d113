// The property sets that the shm provider ships, and nothing else.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>
#include <new>
#include <utility>
#include <weft/spi/face.hpp>
#include "shm/endpoint.hpp"

namespace weft::shm {
namespace {

using spi::entry_format;
using shipped = spi::instantiations<spi::traits{false, entry_format::tokens},    //
                                    spi::traits{false, entry_format::message},   //
                                    spi::traits{false, entry_format::tagged},    //
                                    spi::traits{true, entry_format::tokens},     //
                                    spi::traits{true, entry_format::message},    //
                                    spi::traits{true, entry_format::tagged}>;

void no_memory(weft_failure& f) noexcept {
    f.code = static_cast<std::int32_t>(errc::no_memory);
    std::snprintf(f.text, sizeof f.text, "shm: not enough memory for an endpoint; raise RLIMIT_AS or free memory");
}

}  // namespace

weft_endpoint* make_endpoint(const endpoint_request& r, const void** face, spi::traits& chosen,
                             weft_failure& f) noexcept {
    weft_endpoint* made = nullptr;
    shipped::visit(r.want, [&]<spi::traits Set>() {
        using type = endpoint<Set>;
        chosen = Set;
        try {
            auto transport = std::make_unique<port>(r.owner);
            auto& queue = static_cast<protocol::completion_queue<Set>&>(*r.queue);
            type* const e = r.storage != nullptr ? ::new (r.storage) type(std::move(transport), queue, r.limits, true)
                                                 : new type(std::move(transport), queue, r.limits, false);
            if (!e->bound()) {
                e->release();
                return;
            }
            made = e;
            if (face != nullptr) *face = &spi::face<type>::tables;
        } catch (const std::exception&) {  // bad_alloc: reported below
        }
    });
    if (made == nullptr) no_memory(f);
    return made;
}

protocol::queue_base* make_queue(spi::traits want, std::uint64_t depth) noexcept {
    protocol::queue_base* made = nullptr;
    shipped::visit(want, [&]<spi::traits Set>() { made = protocol::completion_queue<Set>::create(depth); });
    return made;
}

std::size_t endpoint_size(std::size_t& alignment) noexcept {
    std::size_t size = 0;
    alignment = 1;
    const auto widen = [&]<spi::traits Set>() {
        size = std::max(size, sizeof(endpoint<Set>));
        alignment = std::max(alignment, alignof(endpoint<Set>));
    };
    shipped::for_each(widen);
    return size;
}

}  // namespace weft::shm
