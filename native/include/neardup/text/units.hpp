// Lower-cased text → the values of its units: words, or the code points of the folded text.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "neardup/byte_vector.hpp"
#include "neardup/isa.hpp"
#include "neardup/text/nd1.hpp"
#include "neardup/text/places.hpp"
#include "neardup/text/tokenize.hpp"
#include "neardup/text/unicode.hpp"

namespace neardup::NEARDUP_ISA {

// Values that may be written behind the last one.
inline constexpr std::size_t kValuesBehind = 16;

// Append the value of a word, or the values of a run of solo characters; where the next one goes.
template <typename Hash>
NEARDUP_INLINE std::uint64_t* add_word_values(const Hash& hash, const std::uint8_t* text,
                                              std::uint32_t begin, std::uint32_t end,
                                              std::uint64_t* to) {
    if (!begins_solo(text + begin)) {
        *to++ = hash.unit(text + begin, end - begin);
        return to;
    }
#if defined(NEARDUP_USE_AVX512)
    if constexpr (std::is_same_v<Hash, PlainHash>) return add_threes(text + begin, end - begin, to);
#endif
    for (std::uint32_t at = begin; at < end; at += kSoloBytes)
        *to++ = hash.short_unit(text + at, kSoloBytes);
    return to;
}

#if defined(NEARDUP_USE_AVX512)

NEARDUP_INLINE std::uint64_t* add_eight_words(const PlainHash& hash, const std::uint8_t* text,
                                              const std::uint32_t* edge, std::uint64_t* to) {
    const EightUnits units = unit_values_of_eight(text, edge);
    if (units.solos) {
        for (int i = 0; i < 8; ++i)
            to = add_word_values(hash, text, edge[2 * i], edge[2 * i + 1], to);
        return to;
    }
    _mm512_storeu_si512(to, units.values);
    for (unsigned longer = units.longer; longer != 0; longer &= longer - 1) [[unlikely]] {
        const int i = std::countr_zero(longer);
        to[i] = hash.unit(text + edge[2 * i], edge[2 * i + 1] - edge[2 * i]);
    }
    return to + 8;
}

#endif

template <typename Hash>
NEARDUP_APART inline std::size_t word_values(const Hash& hash, Tokenizer& tokens,
                                             std::uint64_t* out) {
    const std::uint8_t* text = tokens.lowered();
    const std::uint32_t* edge = tokens.edges();
    const std::uint32_t* const last = edge + 2 * tokens.edge_pairs();
    std::uint64_t* to = out;
#if defined(NEARDUP_USE_AVX512)
    if constexpr (std::is_same_v<Hash, PlainHash>)
        for (; last - edge >= 16; edge += 16) to = add_eight_words(hash, text, edge, to);
#endif
    for (; edge != last; edge += 2) to = add_word_values(hash, text, edge[0], edge[1], to);
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

// Bit i speaks of byte i.
struct CharacterBits {
    std::uint64_t starts;  // a character begins
    std::uint64_t spaces;  // white space of ASCII
    std::uint64_t not_ascii;
};

NEARDUP_INLINE CharacterBits character_bits(const std::uint8_t* text) {
    CharacterBits bits{};
    for (int start = 0; start < 64; start += kVectorBytes) {
        const Bytes bytes = load_bytes(text + start);
        bits.starts |= high_bits(bytes > each(0xBF)) << start;
        bits.spaces |= high_bits(in_range(bytes, '\t', '\r') | (bytes == each(' '))) << start;
        bits.not_ascii |= high_bits(bytes) << start;
    }
    return bits;
}

// Where a character of several bytes begins that may be white space: almost only where one is,
// because quotation marks and dashes (U+2010 to 2027) are common. text[64] and text[65] are read
// too.
NEARDUP_INLINE std::uint64_t wider_spaces(const std::uint8_t* text) {
    std::uint64_t found = 0;
    for (int start = 0; start < 64; start += kVectorBytes) {
        const Bytes first = load_bytes(text + start);
        const Bytes second = load_bytes(text + start + 1), third = load_bytes(text + start + 2);
        const Bytes second_bits = second & each(0x3F);
        // U+0085 and U+00A0; U+1680; U+2000 to 200A, U+2028 to 202F and U+205F; U+3000.
        const Matches latin =
            (first == each(0xC2)) & ((second_bits == each(0x05)) | (second_bits == each(0x20)));
        const Matches ogham = (first == each(0xE1)) & (second == each(0x9A));
        const Matches typeset =
            (first == each(0xE2)) &
            (((second == each(0x80)) & ((third < each(0x8B)) | in_range(third, '\xA8', '\xAF'))) |
             ((second == each(0x81)) & (third == each(0x9F))));
        const Matches wide = (first == each(0xE3)) & (second == third) & (third == each(0x80));
        found |= high_bits(latin | ogham | typeset | wide) << start;
    }
    return found;
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

    // Append the values of a piece of lowered text, at most one for each byte. 64 + kReadAhead
    // bytes behind it can be read.
    NEARDUP_APART std::size_t run(const std::uint8_t* text, std::size_t size, std::uint64_t* out) {
        const std::uint64_t space = short_values_[0x20];
        // A local, because the compiler must assume that writing to `out` changes the member.
        Folded folded{out, after_space_};
        for (std::size_t at = 0; at < size; at += 64) {
            const std::uint64_t wanted = size - at < 64 ? (1ULL << (size - at)) - 1 : ~0ULL;
            const CharacterBits bits = character_bits(text + at);
            const std::uint64_t starts = bits.starts & wanted;
            const bool is_ascii = (bits.not_ascii & wanted) == 0;
            if (!is_ascii && (wider_spaces(text + at) & wanted) != 0) {
                add_any(text + at, starts, folded, space);
                continue;
            }
            // Of a run of white space only the first is wanted. What the last character was matters
            // to the first one here, which bytes of the last one may precede.
            const std::uint64_t first = starts & (0 - starts);
            const std::uint64_t folds =
                bits.spaces & (bits.spaces << 1 | first * folded.after_space);
            if (is_ascii)
                add_ascii(text + at, starts & ~folds, folded);
            else
                add_visible(text + at, starts & ~folds, bits, folded);
            if (starts != 0)
                folded.after_space = bits.spaces >> (63 - std::countl_zero(starts)) & 1;
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
    };

    NEARDUP_INLINE void add_ascii(const std::uint8_t* text, std::uint64_t wanted,
                                  Folded& folded) const {
        if (wanted == ~0ULL) {
            for (int i = 0; i < 64; ++i) folded.to[i] = short_values_[text[i]];
            folded.to += 64;
            return;
        }
#if defined(NEARDUP_USE_AVX512)
        // Sixteen at a time, so that most blocks take the same number of rounds.
        std::uint8_t together[64];
        _mm512_storeu_si512(together, _mm512_maskz_compress_epi8(wanted, load_eight(text)));
        const int count = std::popcount(wanted);
        for (int done = 0; done < count; done += 16)
            for (int i = done; i < done + 16; ++i) folded.to[i] = short_values_[together[i]];
        folded.to += count;
#else
        for (int i = 0; wanted != 0; ++i, wanted >>= 1) {
            *folded.to = short_values_[text[i]];
            folded.to += wanted & 1;
        }
#endif
    }

#if defined(NEARDUP_USE_AVX512)
    // Whether all lead bytes are those of some character, and have all of its bytes behind them.
    // Bytes that are not UTF-8 have values too, the same for every instruction set.
    static NEARDUP_INLINE bool well_formed(const std::uint8_t* text, std::uint64_t leads,
                                           std::uint64_t starts) {
        const auto bytes = load_bytes(text);
        std::uint64_t behind = 0;  // starts after the block, from its end on
        for (int i = 0; i < 3; ++i)
            behind |= std::uint64_t{(text[64 + i] & 0xC0) != 0x80} << (61 + i);
        const std::uint64_t one_behind = starts >> 1 | (behind << 2 & 1ULL << 63);
        const std::uint64_t two_behind = starts >> 2 | (behind << 1 & 3ULL << 62);
        const std::uint64_t three_behind = starts >> 3 | behind;
        const std::uint64_t wrong = high_bits(bytes < each(0xC2)) | one_behind |
                                    (high_bits(bytes > each(0xDF)) & two_behind) |
                                    (high_bits(bytes > each(0xEF)) & three_behind);
        return (leads & wrong) == 0;
    }
#endif

    // Characters none of which is white space of several bytes. `starts` are those that are wanted.
    NEARDUP_INLINE void add_visible(const std::uint8_t* text, std::uint64_t starts,
                                    [[maybe_unused]] const CharacterBits& bits,
                                    Folded& folded) const {
#if defined(NEARDUP_USE_AVX512)
        if constexpr (std::is_same_v<Hash, PlainHash>) {
            if (well_formed(text, starts & bits.not_ascii, bits.starts)) [[likely]] {
                const __m512i block =
                    _mm512_mask_mov_epi8(load_eight(text), bits.spaces, _mm512_set1_epi8(' '));
                const __m128i behind = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text + 64));
                folded.to =
                    add_characters(block, _mm512_castsi128_si512(behind), starts, folded.to);
                return;
            }
        }
#endif
        for (; starts != 0; starts &= starts - 1) {
            const std::uint8_t* const at = text + std::countr_zero(starts);
            // One and two bytes alike, without a branch: in most alphabets both are common.
            *folded.to++ = *at < 0xE0 ? short_values_[decode_short(at).code]
                                      : hash_.short_unit(at, *at < 0xF0 ? 3 : 4);
        }
    }

    NEARDUP_INLINE void add_any(const std::uint8_t* text, std::uint64_t starts, Folded& folded,
                                std::uint64_t space) const {
        std::uint32_t places[2 * 64];
        const std::uint32_t* const last = write_places(starts, 0, places);
        for (const std::uint32_t* place = places; place != last; ++place) {
            const std::uint8_t* const at = text + *place;
            if (*at < 0xE0) {
                folded.add(short_values_[decode_short(at).code], space);
            } else {
                const CodePoint point = decode_long(at);
                const std::uint64_t value = hash_.short_unit(at, point.length);
                folded.add(is_space(point) ? space : value, space);
            }
        }
    }

    Hash hash_;
    std::uint64_t short_values_[UnicodeTable::kShortCodes];  // white space has the value of a space
    std::uint64_t after_space_ = 1;
    bool filled_ = false;
};

}  // namespace neardup::NEARDUP_ISA
