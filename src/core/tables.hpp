// Checks of what comes over the C boundary: is a table long enough for version 1, is every function there?
//
// A table shorter than version 1 is never called. Members appended later are asked for with `reaches`.
#pragma once
#include <cstddef>
#include <string>

#include <weft/plugin.h>

namespace weft::core {

// Empty if the table can be used; otherwise what is wrong with it: "its table weft_domain_ops has 24 bytes, ...".
std::string fault_in(const weft_provider_ops*);
std::string fault_in(const weft_domain_ops*);
std::string fault_in(const weft_queue_ops*);
std::string fault_in(const weft_endpoint_ops*);

// Was the table made with a release that had this member? `reaches(ops, offsetof(weft_domain_ops, member))`
template <class Ops>
bool reaches(const Ops* ops, std::size_t member_offset) noexcept {
    return ops->size >= member_offset + sizeof(void (*)());
}

}  // namespace weft::core
