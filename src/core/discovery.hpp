// Asks providers, collects offers and refusals, ranks the offers.
#pragma once
#include <string>

#include <weft/needs.hpp>
#include <weft/offer.hpp>

#include "core/host.hpp"
#include "core/providers.hpp"

namespace weft::core {

// What the setting `provider` says: "shm" or "prefer:shm" or nothing.
struct provider_choice {
    std::string only, first;
    static provider_choice parse(const std::string& setting);
};

discovery discover(const provider_list&, host&, capset, const needs&, const preferences&, const provider_choice&);

// The text of a failure: what was wanted and every refusal, one per line.
std::string explain(const discovery&, capset);

}  // namespace weft::core
