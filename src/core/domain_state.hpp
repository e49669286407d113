// The core's side of a domain: the provider's object, and the host it may use as long as it lives.
#pragma once
#include <weft/plugin.h>
#include <weft/domain.hpp>

#include "core/host.hpp"

namespace weft {

struct domain::state {
    state(core::host_ptr lender, weft_domain* adopted, offer how, threading level)
        : host(std::move(lender)), impl(adopted), what(std::move(how)), threads(level) {}
    state(const state&) = delete;
    state& operator=(const state&) = delete;
    // Queues and endpoints keep what they need of the provider's object.
    ~state() { impl->ops->release(impl); }

    core::host_ptr host;  // goes last
    weft_domain* impl;
    offer what;
    threading threads;
};

}  // namespace weft
