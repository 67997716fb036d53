// Sixty-four bytes of text at once: lower-cased, and which of them belong to words.
#pragma once

#include <cstdint>
#include <cstring>

#include "neardup/byte_vector.hpp"
#include "neardup/isa.hpp"

namespace neardup::NEARDUP_ISA {

// The bytes at the start of a block that belong to a character of the block before it: all of them,
// and those of a solo character.
struct SoloCarry {
    std::uint64_t known, run;
};

// Bit i speaks of byte i.
struct BlockBits {
    std::uint64_t word;       // part of a letter, digit or underscore
    std::uint64_t unknown;    // part of a character that must be looked up
    std::uint64_t solos = 0;  // the first byte of a solo character
    std::uint64_t run = 0;    // part of a solo character
    SoloCarry carry = {};
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
    BlockBits bits{};
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

inline constexpr std::uint32_t kSoloBytes = 3;

// The first bytes of solo characters and of others that belong to no word, of three bytes each.
struct SoloBits {
    std::uint64_t solos, others;
};

NEARDUP_INLINE std::uint64_t three_bytes(std::uint64_t first) {
    return first | first << 1 | first << 2;
}

// The Han characters U+4E00 to U+9FFF, and Hiragana and Katakana as far as they have the lead bytes
// E3 81 to E3 83. A word that begins with one of these bytes is a solo character of three bytes.
NEARDUP_INLINE bool begins_solo(const std::uint8_t* at) {
    if (at[0] < 0xE3) [[likely]]
        return false;
    const std::uint32_t start = static_cast<std::uint32_t>(at[0]) << 8 | at[1];
    return start - 0xE4B8U <= 0xE9BFU - 0xE4B8U || start - 0xE381U <= 0xE383U - 0xE381U;
}

// The first bytes of kana, and of the punctuation of typeset text (U+2010 to 2027).
NEARDUP_INLINE SoloBits kana_and_typeset(const std::uint8_t* in) {
    SoloBits bits{};
    for (int start = 0; start < 64; start += kVectorBytes) {
        const Bytes first = load_bytes(in + start);
        const Bytes second = load_bytes(in + start + 1), third = load_bytes(in + start + 2);
        const Matches kana =
            (first == each(0xE3)) & (third < each(0xC0)) &
            (((second == each(0x81)) & (third > each(0x80))) |
             ((second == each(0x82)) & ((third < each(0x97)) | (third > each(0xA0)))) |
             ((second == each(0x83)) & ((third < each(0xBB)) | (third == each(0xBC)))));
        const Matches typeset =
            (first == each(0xE2)) & (second == each(0x80)) & in_range(third, '\x90', '\xA7');
        bits.solos |= high_bits(kana) << start;
        bits.others |= high_bits(typeset) << start;
    }
    return bits;
}

// The same for ASCII, Han and kana, and for the punctuation that is common beside them (U+3000 to
// 3004, U+3008 to 3011, U+FF01 to FF0F, U+FF1A to FF20) and in typeset text. in[64] and in[65] are
// read too, because the last characters may reach into the next block.
NEARDUP_INLINE BlockBits lower_solo_block(const std::uint8_t* in, std::uint8_t* out,
                                          SoloCarry carried) {
    std::uint64_t word = 0, not_ascii = 0;
    SoloBits found{};
    for (int start = 0; start < 64; start += kVectorBytes) {
        const Bytes first = load_bytes(in + start);
        const Bytes second = load_bytes(in + start + 1), third = load_bytes(in + start + 2);
        const Bytes lowered = lower_ascii(first);
        std::memcpy(out + start, &lowered, sizeof lowered);
        const Matches han =
            (in_range(first, '\xE5', '\xE9') | ((first == each(0xE4)) & (second > each(0xB7)))) &
            (second < each(0xC0)) & (third < each(0xC0));
        const Matches symbols = (first == each(0xE3)) & (second == each(0x80)) &
                                ((third < each(0x85)) | in_range(third, '\x88', '\x91'));
        const Matches full_width =
            (first == each(0xEF)) & (second == each(0xBC)) &
            (in_range(third, '\x81', '\x8F') | in_range(third, '\x9A', '\xA0'));
        word |= high_bits(is_ascii_word(lowered)) << start;
        not_ascii |= high_bits(first) << start;
        found.solos |= high_bits(han) << start;
        found.others |= high_bits(symbols | full_width) << start;
    }
    std::uint64_t unknown = not_ascii & ~(three_bytes(found.solos | found.others) | carried.known);
    if (unknown != 0) {
        const SoloBits more = kana_and_typeset(in);
        found.solos |= more.solos;
        found.others |= more.others;
        unknown &= ~three_bytes(more.solos | more.others);
    }
    const std::uint64_t all = found.solos | found.others;
    return {word,
            unknown,
            found.solos,
            three_bytes(found.solos) | carried.run,
            {all >> 63 | all >> 62, found.solos >> 63 | found.solos >> 62}};
}

}  // namespace neardup::NEARDUP_ISA
