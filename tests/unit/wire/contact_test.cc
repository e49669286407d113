// Every field of a contact datagram comes from outside: what is not exactly right is named and not believed.
#include "wire/contact.hpp"

#include <array>
#include <cstring>
#include <random>

#include <gtest/gtest.h>

#include "wire/message.hpp"

namespace weft::wire {
namespace {

contact sample() {
    contact c;
    c.kind = contact_kind::open;
    c.from = {0x1111, 0x22220000'00000001};
    c.to = {0x3333, 0x44440000'00000002};
    c.region_size = 5'005'312;
    c.probe_address = 0x7fff0000;
    c.probe_value = 99;
    c.ring_slots = 2048;
    c.eager_bytes = 1 << 18;
    c.bulk_bytes = 1 << 21;
    return c;
}

contact_fault fault_of(std::array<std::byte, contact_size> bytes, std::size_t offset, unsigned char value) {
    bytes[offset] = std::byte{value};
    return decode(bytes).fault;
}

TEST(contact, survives_encoding) {
    const contact c = sample();
    const decoded_contact d = decode(encode(c));
    ASSERT_EQ(d.fault, contact_fault::none);
    EXPECT_EQ(d.value.kind, c.kind);
    EXPECT_EQ(d.value.from, c.from);
    EXPECT_EQ(d.value.to, c.to);
    EXPECT_EQ(d.value.region_size, c.region_size);
    EXPECT_EQ(d.value.probe_address, c.probe_address);
    EXPECT_EQ(d.value.probe_value, c.probe_value);
    EXPECT_EQ(d.value.ring_slots, c.ring_slots);
    EXPECT_EQ(d.value.eager_bytes, c.eager_bytes);
    EXPECT_EQ(d.value.bulk_bytes, c.bulk_bytes);
}

TEST(contact, refusals_carry_reason_and_text) {
    contact c = sample();
    c.kind = contact_kind::refuse;
    c.reason = contact_reason::permission;
    c.set_text(std::string(500, 'x'));
    const decoded_contact d = decode(encode(c));
    ASSERT_EQ(d.fault, contact_fault::none);
    EXPECT_EQ(d.value.reason, contact_reason::permission);
    EXPECT_EQ(d.value.reason_text(), std::string(127, 'x'));
}

TEST(contact, faults_are_named) {
    const auto good = encode(sample());
    EXPECT_EQ(decode(std::span(good).first(contact_size - 1)).fault, contact_fault::size);
    EXPECT_EQ(decode({}).fault, contact_fault::size);
    EXPECT_EQ(fault_of(good, 0, 0), contact_fault::magic);
    EXPECT_EQ(fault_of(good, 8, 2), contact_fault::version);
    EXPECT_EQ(fault_of(good, 12, 0), contact_fault::kind);
    EXPECT_EQ(fault_of(good, 12, 9), contact_fault::kind);
    EXPECT_EQ(fault_of(good, 48, 8), contact_fault::reason);  // unknown
    EXPECT_EQ(fault_of(good, 48, 1), contact_fault::reason);  // an open has none
    EXPECT_EQ(fault_of(good, 88 + 127, 'x'), contact_fault::text);
    contact nobody = sample();
    nobody.from = {};
    EXPECT_EQ(decode(encode(nobody)).fault, contact_fault::identity);
}

// Another version's datagram still tells who sent it, so that it can be answered.
TEST(contact, another_version_is_readable_as_far_as_it_must) {
    contact c = sample();
    c.version = 7;
    const decoded_contact d = decode(encode(c));
    EXPECT_EQ(d.fault, contact_fault::version);
    EXPECT_EQ(d.value.version, 7u);
    EXPECT_EQ(d.value.from, c.from);
    EXPECT_EQ(d.value.kind, contact_kind::open);
}

TEST(contact, random_bytes_never_pass_the_magic_by_accident) {
    std::mt19937_64 random(1);
    for (int i = 0; i < 20'000; ++i) {
        std::array<std::byte, contact_size> bytes;
        for (std::size_t at = 0; at < bytes.size(); at += 8) {
            const std::uint64_t word = random();
            std::memcpy(bytes.data() + at, &word, 8);
        }
        EXPECT_NE(decode(bytes).fault, contact_fault::none);
        const std::uint64_t magic = contact_magic;  // and with it, whatever follows is judged without harm
        std::memcpy(bytes.data(), &magic, 8);
        (void)decode(bytes);
    }
}

TEST(header, small_messages_carry_their_size_in_the_kind) {
    for (std::size_t n = 0; n <= payload_max; ++n) {
        const std::uint64_t tagged = header::pack_small(0xffff, kind::tagged_small, n);
        EXPECT_EQ(header::sequence_of(tagged), 0xffff);
        EXPECT_EQ(header::small_size_of(tagged, kind::tagged_small), n);
        EXPECT_GT(header::small_size_of(tagged, kind::msg_small), payload_max);
        const std::uint64_t plain = header::pack_small(1, kind::msg_small, n);
        EXPECT_EQ(header::small_size_of(plain, kind::msg_small), n);
        EXPECT_GT(header::small_size_of(plain, kind::tagged_small), payload_max);
    }
    for (const kind k : {kind::msg_eager, kind::tagged_rendezvous_data, kind::grant, kind::segment, kind::finished}) {
        const std::uint64_t word = header::pack(5, k, 77);
        EXPECT_EQ(header::kind_of(word), k);
        EXPECT_EQ(header::size_of(word), 77u);
        EXPECT_GT(header::small_size_of(word, kind::tagged_small), payload_max);
        EXPECT_GT(header::small_size_of(word, kind::msg_small), payload_max);
    }
}

}  // namespace
}  // namespace weft::wire
