// Lower-cased text → the values of its units: words, or the code points of the folded text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "isa.hpp"
#include "nd1.hpp"
#include "tokenize.hpp"
#include "unicode.hpp"

namespace neardup::NEARDUP_ISA {

NEARDUP_APART inline std::size_t word_values(Tokenizer& tokens, std::uint64_t* out) {
    const std::uint8_t* text = tokens.lowered();
    const std::uint32_t* edge = tokens.edges();
    const std::size_t count = tokens.words();
    for (std::size_t i = 0; i < count; ++i)
        out[i] = unit_value(text + edge[2 * i], edge[2 * i + 1] - edge[2 * i]);
    return count;
}

// Whether a code point is white space, given that four bytes can be read.
NEARDUP_INLINE bool is_space(CodePoint point) {
    const UnicodeTable& table = unicode_table();
    return (point.code < UnicodeTable::kShortCodes
                ? kind_of(table.short_entry(point.code))
                : kind_of_long(table.long_entry(point.code))) == Kind::space;
}

NEARDUP_INLINE std::uint64_t is_ascii_space(std::uint8_t byte) {
    return static_cast<std::uint64_t>(byte == ' ') |
           static_cast<std::uint64_t>(static_cast<std::uint8_t>(byte - '\t') < 5);
}

// The size of a text without the white space at its end.
inline std::size_t trimmed_size(const std::uint8_t* text, std::size_t size) {
    while (size != 0) {
        std::size_t length = 1;
        while (length < 4 && length < size && (text[size - length] & 0xC0) == 0x80) ++length;
        std::uint8_t padded[8] = {};
        std::memcpy(padded, text + size - length, length);
        if (!is_space(padded[0] < 0xE0 ? decode_short(padded) : decode_long(padded))) break;
        size -= length;
    }
    return size;
}

// Values of single code points, white space folded: of a run only the first becomes a space, and
// at the start of a text not even that. Texts come trimmed at their end.
class CharacterValues {
  public:
    CharacterValues() {
        for (std::uint32_t code = 0; code < 0x80; ++code) {
            const auto byte = static_cast<std::uint8_t>(code);
            const std::uint8_t padded[kReadAhead] = {is_ascii_space(byte) ? std::uint8_t{' '} : byte};
            ascii_[code] = unit_value(padded, 1);
        }
    }

    void restart() { after_space_ = 1; }

    // Append the values of a piece of lowered text, at most one for each byte.
    NEARDUP_APART std::size_t run(const std::uint8_t* text, std::size_t size, std::uint64_t* out) {
        const UnicodeTable& table = unicode_table();
        // A local, because the compiler must assume that writing to `out` changes the member.
        Folded folded{out, after_space_};
        for (std::size_t at = 0; at < size;) {
            if (size - at >= 8 && (load64(text + at) & 0x8080808080808080ULL) == 0) {
                for (int i = 0; i < 8; ++i)
                    folded.add(ascii_[text[at + i]], is_ascii_space(text[at + i]));
                at += 8;
                continue;
            }
            // One and two bytes alike, without a branch: in most alphabets both are common.
            CodePoint point;
            std::uint64_t space;
            if (text[at] < 0xE0) {
                point = decode_short(text + at);
                space = kind_of(table.short_entry(point.code)) == Kind::space;
            } else {
                point = decode_long(text + at);
                space = kind_of_long(table.long_entry(point.code)) == Kind::space;
            }
            const std::uint64_t value = short_unit_value(text + at, point.length);
            // Choose by mask: a branch would be mispredicted at every other word.
            folded.add(value ^ ((value ^ ascii_[' ']) & (0 - space)), space);
            at += point.length;
        }
        after_space_ = folded.after_space;
        return static_cast<std::size_t>(folded.to - out);
    }

  private:
    struct Folded {
        std::uint64_t* to;
        std::uint64_t after_space;

        NEARDUP_INLINE void add(std::uint64_t value, std::uint64_t space) {
            *to = value;
            to += (space & after_space) ^ 1;
            after_space = space;
        }
    };

    std::uint64_t ascii_[0x80];
    std::uint64_t after_space_ = 1;
};

}  // namespace neardup::NEARDUP_ISA
