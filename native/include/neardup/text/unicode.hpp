// What each code point is to the tokenizer, and its lower case: the pinned ranges, expanded.
#pragma once

#include <cstdint>
#include <span>

namespace neardup {

enum class Kind : std::uint8_t { other, letter, mark, solo, space };

// Code points of one kind, other than `other`.
struct KindRange {
    std::uint32_t first, last;
    Kind kind;
};

// Every `stride`-th code point of a range becomes lower case by adding `delta`.
struct LowerRange {
    std::uint32_t first, last, stride;
    std::int32_t delta;
};

std::span<const KindRange> kind_ranges();
std::span<const LowerRange> lower_ranges();

// A code point below U+0800 in one word: the UTF-8 bytes of its lower case (bits 0-23), their
// number (bits 24-27) and its kind (bits 28-31), so that the common alphabets need no branch.
using ShortEntry = std::uint32_t;

// Any other code point: its kind (bits 0-7) and the way to its lower case (bits 8-31, signed).
using LongEntry = std::int32_t;

class UnicodeTable {
  public:
    static constexpr std::uint32_t kShortCodes = 0x800;
    static constexpr std::uint32_t kCodes = 0x110000;

    UnicodeTable();

    ShortEntry short_entry(std::uint32_t code) const { return short_[code]; }

    LongEntry long_entry(std::uint32_t code) const {
        return blocks_[page_[code >> kPageBits]][code & (kPageSize - 1)];
    }

  private:
    static constexpr std::uint32_t kPageBits = 8;
    static constexpr std::uint32_t kPageSize = 1U << kPageBits;
    static constexpr std::uint32_t kPages = kCodes >> kPageBits;
    static constexpr std::uint32_t kMostBlocks = 256;

    ShortEntry short_[kShortCodes];
    std::uint8_t page_[kPages];
    LongEntry blocks_[kMostBlocks][kPageSize];
};

inline Kind kind_of(ShortEntry entry) { return static_cast<Kind>(entry >> 28); }
inline std::uint32_t length_of(ShortEntry entry) { return (entry >> 24) & 15U; }
inline Kind kind_of_long(LongEntry entry) { return static_cast<Kind>(entry & 255); }
inline std::int32_t lower_delta_of(LongEntry entry) { return entry >> 8; }

// The one table, expanded when it is first asked for.
const UnicodeTable& unicode_table();

// Write the UTF-8 bytes of a code point (up to four) and return how many they are.
inline std::uint32_t encode_utf8(std::uint32_t code, std::uint8_t* out) {
    if (code < 0x80) {
        out[0] = static_cast<std::uint8_t>(code);
        return 1;
    }
    if (code < 0x800) {
        out[0] = static_cast<std::uint8_t>(0xC0 | code >> 6);
        out[1] = static_cast<std::uint8_t>(0x80 | (code & 63));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = static_cast<std::uint8_t>(0xE0 | code >> 12);
        out[1] = static_cast<std::uint8_t>(0x80 | (code >> 6 & 63));
        out[2] = static_cast<std::uint8_t>(0x80 | (code & 63));
        return 3;
    }
    out[0] = static_cast<std::uint8_t>(0xF0 | code >> 18);
    out[1] = static_cast<std::uint8_t>(0x80 | (code >> 12 & 63));
    out[2] = static_cast<std::uint8_t>(0x80 | (code >> 6 & 63));
    out[3] = static_cast<std::uint8_t>(0x80 | (code & 63));
    return 4;
}

}  // namespace neardup
