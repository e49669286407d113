#include "wire/contact.hpp"

#include <algorithm>
#include <cstring>

namespace weft::wire {
namespace {

// The datagram as it lies in memory. Fields are naturally aligned, so there is no padding.
struct layout {
    std::uint64_t magic;
    std::uint32_t version;
    std::uint32_t kind;
    std::uint64_t from_high, from_low;
    std::uint64_t to_high, to_low;
    std::uint32_t reason;
    std::uint32_t ring_slots;
    std::uint64_t region_size;
    std::uint64_t probe_address;
    std::uint64_t probe_value;
    std::uint32_t eager_bytes;
    std::uint32_t bulk_bytes;
    char text[128];
    std::uint64_t reserved[5];
};
static_assert(sizeof(layout) == contact_size);

constexpr bool known(contact_kind k) noexcept { return k >= contact_kind::open && k <= contact_kind::close; }
constexpr bool known(contact_reason r) noexcept { return r <= contact_reason::descriptors; }

}  // namespace

std::string_view contact::reason_text() const noexcept {
    return {text.data(), static_cast<std::size_t>(std::find(text.begin(), text.end(), '\0') - text.begin())};
}

void contact::set_text(std::string_view s) noexcept {
    const std::size_t n = std::min(s.size(), text.size() - 1);
    std::copy_n(s.begin(), n, text.begin());
    std::fill(text.begin() + static_cast<std::ptrdiff_t>(n), text.end(), '\0');
}

std::array<std::byte, contact_size> encode(const contact& c) noexcept {
    layout l{};
    l.magic = contact_magic;
    l.version = c.version;
    l.kind = static_cast<std::uint32_t>(c.kind);
    l.from_high = c.from.high;
    l.from_low = c.from.low;
    l.to_high = c.to.high;
    l.to_low = c.to.low;
    l.reason = static_cast<std::uint32_t>(c.reason);
    l.ring_slots = c.ring_slots;
    l.region_size = c.region_size;
    l.probe_address = c.probe_address;
    l.probe_value = c.probe_value;
    l.eager_bytes = c.eager_bytes;
    l.bulk_bytes = c.bulk_bytes;
    std::memcpy(l.text, c.text.data(), c.text.size());
    std::array<std::byte, contact_size> out;
    std::memcpy(out.data(), &l, sizeof l);
    return out;
}

decoded_contact decode(std::span<const std::byte> bytes) noexcept {
    decoded_contact d;
    const auto fail = [&](contact_fault f) {
        d.fault = f;
        return d;
    };
    if (bytes.size() != contact_size) return fail(contact_fault::size);
    layout l;
    std::memcpy(&l, bytes.data(), sizeof l);
    if (l.magic != contact_magic) return fail(contact_fault::magic);
    d.value.version = l.version;
    d.value.from = {l.from_high, l.from_low};
    d.value.to = {l.to_high, l.to_low};
    d.value.kind = static_cast<contact_kind>(l.kind);
    if (l.version != contact_version) return fail(contact_fault::version);
    if (!known(d.value.kind)) return fail(contact_fault::kind);
    if (!d.value.from || !d.value.to) return fail(contact_fault::identity);
    d.value.reason = static_cast<contact_reason>(l.reason);
    if (!known(d.value.reason) || (d.value.kind == contact_kind::refuse) != (d.value.reason != contact_reason::none))
        return fail(contact_fault::reason);
    d.value.region_size = l.region_size;
    d.value.probe_address = l.probe_address;
    d.value.probe_value = l.probe_value;
    d.value.ring_slots = l.ring_slots;
    d.value.eager_bytes = l.eager_bytes;
    d.value.bulk_bytes = l.bulk_bytes;
    std::memcpy(d.value.text.data(), l.text, sizeof l.text);
    if (d.value.text.back() != '\0') return fail(contact_fault::text);
    return d;
}

}  // namespace weft::wire
