// Lower-cased text → the values of its units: words, or the code points of the folded text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "neardup/isa.hpp"
#include "neardup/text/nd1.hpp"
#include "neardup/text/tokenize.hpp"
#include "neardup/text/unicode.hpp"

namespace neardup::NEARDUP_ISA {

template <typename Hash>
NEARDUP_APART inline std::size_t word_values(const Hash& hash, Tokenizer& tokens,
                                             std::uint64_t* out) {
    const std::uint8_t* text = tokens.lowered();
    const std::uint32_t* edge = tokens.edges();
    const std::uint32_t* const last = edge + 2 * tokens.edge_pairs();
    std::uint64_t* to = out;
    for (; edge != last; edge += 2) {
        const std::uint32_t begin = edge[0], end = edge[1];
        if ((begin & kHanRun) == 0) {
            *to++ = hash.unit(text + begin, end - begin);
            continue;
        }
        for (std::uint32_t at = begin & ~kHanRun; at < end; at += kHanBytes)
            *to++ = hash.short_unit(text + at, kHanBytes);
    }
    return static_cast<std::size_t>(to - out);
}

// Whether a code point is white space.
NEARDUP_INLINE bool is_space(CodePoint point) {
    const UnicodeTable& table = unicode_table();
    return (point.code < UnicodeTable::kShortCodes
                ? kind_of(table.short_entry(point.code))
                : kind_of_long(table.long_entry(point.code))) == Kind::space;
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
template <typename Hash>
class CharacterValues {
  public:
    explicit CharacterValues(const Hash& hash) : hash_(hash) {}

    // Call this before each text.
    void restart() {
        after_space_ = 1;
        if (!filled_) fill();
    }

    // Append the values of a piece of lowered text, at most one for each byte.
    NEARDUP_APART std::size_t run(const std::uint8_t* text, std::size_t size, std::uint64_t* out) {
        const std::uint64_t space = short_values_[0x20];
        // A local, because the compiler must assume that writing to `out` changes the member.
        Folded folded{out, after_space_};
        for (std::size_t at = 0; at < size;) {
            if (size - at >= 8 && (load64(text + at) & 0x8080808080808080ULL) == 0) {
                for (int i = 0; i < 8; ++i) folded.add(short_values_[text[at + i]], space);
                at += 8;
            } else if (text[at] < 0xE0) {
                // One and two bytes alike, without a branch: in most alphabets both are common.
                const CodePoint point = decode_short(text + at);
                folded.add(short_values_[point.code], space);
                at += point.length;
            } else if (is_han(text + at)) {
                folded.add_visible(hash_.short_unit(text + at, kHanBytes));
                at += kHanBytes;
            } else {
                const CodePoint point = decode_long(text + at);
                const std::uint64_t value = hash_.short_unit(text + at, point.length);
                folded.add(is_space(point) ? space : value, space);
                at += point.length;
            }
        }
        after_space_ = folded.after_space;
        return static_cast<std::size_t>(folded.to - out);
    }

  private:
    // Done at the first text: a keyed hash is slow, and `word:n` features do not need it.
    void fill() {
        for (std::uint32_t code = 0; code < UnicodeTable::kShortCodes; ++code) {
            std::uint8_t bytes[kReadAhead] = {};
            const std::size_t length = encode_utf8(is_space({code, 0}) ? ' ' : code, bytes);
            short_values_[code] = hash_.short_unit(bytes, length);
        }
        filled_ = true;
    }

    struct Folded {
        std::uint64_t* to;
        std::uint64_t after_space;

        NEARDUP_INLINE void add(std::uint64_t value, std::uint64_t space) {
            const std::uint64_t is_space = value == space;
            *to = value;
            to += (is_space & after_space) ^ 1;
            after_space = is_space;
        }

        NEARDUP_INLINE void add_visible(std::uint64_t value) {
            *to++ = value;
            after_space = 0;
        }
    };

    Hash hash_;
    std::uint64_t short_values_[UnicodeTable::kShortCodes];  // white space has the value of a space
    std::uint64_t after_space_ = 1;
    bool filled_ = false;
};

}  // namespace neardup::NEARDUP_ISA
