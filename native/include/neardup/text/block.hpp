// Sixty-four bytes of text at once: lower-cased, and which of them belong to words.
#pragma once

#include <cstdint>
#include <cstring>

#include "neardup/byte_vector.hpp"
#include "neardup/isa.hpp"

namespace neardup::NEARDUP_ISA {

// Bit i speaks of byte i.
struct BlockBits {
    std::uint64_t word;     // part of a letter, digit or underscore
    std::uint64_t unknown;  // part of a character that must be looked up
};

NEARDUP_INLINE Bytes lower_ascii(Bytes bytes) {
    return bytes | (in_range(bytes, 'A', 'Z') & each(0x20));
}

// Of bytes already lowered.
NEARDUP_INLINE Matches is_ascii_word(Bytes lowered) {
    return in_range(lowered, 'a', 'z') | in_range(lowered, '0', '9') | (lowered == each('_'));
}

// Lower 64 bytes from `in` to `out` as far as they are ASCII.
NEARDUP_INLINE BlockBits lower_ascii_block(const std::uint8_t* in, std::uint8_t* out) {
    BlockBits bits{0, 0};
    for (int start = 0; start < 64; start += kVectorBytes) {
        const Bytes bytes = load_bytes(in + start);
        const Bytes lowered = lower_ascii(bytes);
        std::memcpy(out + start, &lowered, sizeof lowered);
        bits.word |= high_bits(is_ascii_word(lowered)) << start;
        bits.unknown |= high_bits(bytes) << start;
    }
    return bits;
}

NEARDUP_INLINE bool is_cyrillic_lead(std::uint8_t byte) { return (byte & 0xFE) == 0xD0; }

// The same for ASCII and the Cyrillic letters U+0400 to U+047F (lead bytes D0 and D1), which are
// all letters and keep their length. in[-1] and in[64] are read too.
NEARDUP_INLINE BlockBits lower_cyrillic_block(const std::uint8_t* in, std::uint8_t* out) {
    std::uint64_t word = 0, not_ascii = 0, leads = 0, followers = 0;
    for (int start = 0; start < 64; start += kVectorBytes) {
        const Bytes bytes = load_bytes(in + start);
        const Bytes before = load_bytes(in + start - 1), after = load_bytes(in + start + 1);
        // D0 80-8F → D1 90-9F, D0 90-9F → D0 B0-BF, D0 A0-AF → D1 80-8F, and in D1 A0-BF the
        // capitals are the even ones.
        const Matches first_row = (bytes & each(0xF0)) == each(0x80);
        const Matches middle_rows = (bytes > each(0x8F)) & (bytes < each(0xB0));
        const Matches last_rows = (bytes & each(0xE0)) == each(0xA0);
        const Bytes flips =
            ((before == each(0xD0)) & ((first_row & each(0x10)) | (middle_rows & each(0x20))));
        const Bytes made_odd = (before == each(0xD1)) & last_rows & each(1);
        const Bytes to_d1 = (bytes == each(0xD0)) & ((after & each(0xD0)) == each(0x80)) & each(1);
        const Bytes lowered = ((lower_ascii(bytes) ^ flips) | made_odd) | to_d1;
        std::memcpy(out + start, &lowered, sizeof lowered);
        word |= high_bits(is_ascii_word(lowered)) << start;
        not_ascii |= high_bits(bytes) << start;
        leads |= high_bits((bytes & each(0xFE)) == each(0xD0)) << start;
        followers |= high_bits((before & each(0xFE)) == each(0xD0)) << start;
    }
    const std::uint64_t cut_off = leads & 1ULL << 63;
    const std::uint64_t cyrillic = not_ascii & (leads | followers) & ~cut_off;
    return {word | cyrillic, not_ascii & ~cyrillic};
}

}  // namespace neardup::NEARDUP_ISA
