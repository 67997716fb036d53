// The inside of JSON strings: where they end, and what their escapes stand for.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(NEARDUP_USE_AVX512)
#include <immintrin.h>
#endif

#include "neardup/isa.hpp"
#include "neardup/text/block.hpp"
#include "neardup/text/unicode.hpp"

namespace neardup::NEARDUP_ISA {

// Bit i: byte i is a quote, a backslash or a control character, where a run of plain bytes ends.
NEARDUP_INLINE std::uint64_t plain_ends(const std::uint8_t* from) {
    std::uint64_t ends = 0;
    for (int start = 0; start < 64; start += kVectorBytes) {
        const Bytes bytes = load_bytes(from + start);
        const Matches found =
            (bytes == each('"')) | (bytes == each('\\')) | in_range(bytes, 0, 0x1F);
        ends |= high_bits(found) << start;
    }
    return ends;
}

NEARDUP_INLINE bool ends_plain(std::uint8_t byte) {
    return byte == '"' || byte == '\\' || byte < 0x20;
}

// The first byte from `at` that is a quote, a backslash or a control character, or `end`.
NEARDUP_INLINE const std::uint8_t* skip_plain(const std::uint8_t* at, const std::uint8_t* end) {
    for (; end - at >= 64; at += 64)
        if (const std::uint64_t ends = plain_ends(at); ends != 0)
            return at + std::countr_zero(ends);
    while (at != end && !ends_plain(*at)) ++at;
    return at;
}

// No UTF-16 unit, and more than any.
inline constexpr std::uint32_t kNoUnit = 0x10000;

// The value of each hexadecimal digit; of any other byte kNoUnit.
struct HexDigits {
    std::uint32_t of[256];
    constexpr HexDigits() : of{} {
        for (std::uint32_t& value : of) value = kNoUnit;
        for (std::uint32_t i = 0; i < 10; ++i) of['0' + i] = i;
        for (std::uint32_t i = 0; i < 6; ++i) of['a' + i] = of['A' + i] = 10 + i;
    }
};
inline constexpr HexDigits kHexDigits;

// A string that was read: where its closing quote stands, null if it is unsound, and how much
// was written.
struct Unescaped {
    const std::uint8_t* quote;
    std::size_t size;
};

class JsonUnescape {
  public:
    // Read on from `at` to the closing quote and write what the string says to `out`. Never more
    // is written than was read, so room for the bytes up to `end` is enough.
    static NEARDUP_APART Unescaped run(const std::uint8_t* at, const std::uint8_t* end,
                                       std::uint8_t* const out) {
        std::uint8_t* to = out;
        while (true) {
#if defined(NEARDUP_USE_AVX512)
            const Plain blocks = copy_blocks(at, end, to);
            at = blocks.at;
            to = blocks.to;
#endif
            // Escapes often stand side by side, above all where no letter is ASCII.
            while (at != end && *at == '\\') {
                at = escape(at, end, to);
                if (at == nullptr) return {nullptr, 0};
            }
            const Plain run = copy_plain(at, end, to);
            at = run.at;
            to = run.to;
            if (at == end) return {nullptr, 0};
            if (*at == '"') return {at, static_cast<std::size_t>(to - out)};
            if (*at != '\\') return {nullptr, 0};
        }
    }

  private:
    struct Plain {
        const std::uint8_t* at;
        std::uint8_t* to;
    };

    static NEARDUP_INLINE Plain copy_plain(const std::uint8_t* at, const std::uint8_t* end,
                                           std::uint8_t* to) {
        for (; end - at >= 64; at += 64, to += 64) {
            std::memcpy(to, at, 64);
            if (const std::uint64_t ends = plain_ends(at); ends != 0)
                return {at + std::countr_zero(ends), to + std::countr_zero(ends)};
        }
        while (at != end && !ends_plain(*at)) *to++ = *at++;
        return {at, to};
    }

#if defined(NEARDUP_USE_AVX512)
    // The bytes of a block that are `letter`.
    static NEARDUP_INLINE std::uint64_t equal(__m512i bytes, char letter) {
        return _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(letter));
    }

    // Copy blocks of 64 bytes with escapes of one letter, up to what must be looked at: the end of
    // the string, another escape, or two backslashes side by side.
    static NEARDUP_INLINE Plain copy_blocks(const std::uint8_t* at, const std::uint8_t* end,
                                            std::uint8_t* to) {
        while (end - at >= 64) {
            __m512i bytes = _mm512_loadu_si512(at);
            const std::uint64_t slashes = equal(bytes, '\\'), escaped = slashes << 1;
            std::uint64_t stops = (equal(bytes, '"') & ~escaped) | (slashes & escaped) >> 1 |
                                  _mm512_cmplt_epu8_mask(bytes, _mm512_set1_epi8(0x20));
            if (escaped != 0) {
                std::uint64_t known = equal(bytes, '"') | equal(bytes, '/');
                for (const auto& [letter, meaning] : kLetters) {
                    const std::uint64_t found = equal(bytes, letter) & escaped;
                    bytes = _mm512_mask_mov_epi8(bytes, found, _mm512_set1_epi8(meaning));
                    known |= found;
                }
                stops |= (escaped & ~known) >> 1;
            }
            stops |= slashes & 1ULL << 63;  // what it stands for is in the next block
            const auto size = static_cast<std::size_t>(std::countr_zero(stops));
            _mm512_storeu_si512(to, _mm512_maskz_compress_epi8(~slashes, bytes));
            to += size - static_cast<std::size_t>(std::popcount(slashes & low_bits(size)));
            at += size;
            if (size < 63) break;
        }
        return {at, to};
    }

    static NEARDUP_INLINE std::uint64_t low_bits(std::size_t count) {
        return count < 64 ? (1ULL << count) - 1 : ~0ULL;
    }

    struct Letter {
        char letter, meaning;
    };
    static constexpr Letter kLetters[] = {
        {'n', '\n'}, {'t', '\t'}, {'r', '\r'}, {'b', '\b'}, {'f', '\f'}};
#endif

    // Write what the escape at `at` stands for; where it ends, null if it is unsound.
    static NEARDUP_INLINE const std::uint8_t* escape(const std::uint8_t* at,
                                                     const std::uint8_t* end, std::uint8_t*& to) {
        if (end - at < 2) return nullptr;
        if (at[1] == 'u') return code_point(at, end, to);
        const std::uint8_t byte = short_escape(at[1]);
        if (byte == 0) return nullptr;
        *to++ = byte;
        return at + 2;
    }

    static NEARDUP_INLINE std::uint8_t short_escape(std::uint8_t letter) {
        switch (letter) {
            case '"':
            case '\\':
            case '/': return letter;
            case 'b': return '\b';
            case 'f': return '\f';
            case 'n': return '\n';
            case 'r': return '\r';
            case 't': return '\t';
            default: return 0;
        }
    }

    // The UTF-16 unit of the escape \uXXXX at `at`, or at least kNoUnit if there is none.
    static NEARDUP_INLINE std::uint32_t utf16_unit(const std::uint8_t* at,
                                                   const std::uint8_t* end) {
        if (end - at < 6 || at[0] != '\\' || at[1] != 'u') return kNoUnit;
        const std::uint32_t* const digits = kHexDigits.of;
        return digits[at[2]] << 12 | digits[at[3]] << 8 | digits[at[4]] << 4 | digits[at[5]];
    }

    // Write what one escape \uXXXX or two that are surrogates stand for; where they end.
    static NEARDUP_INLINE const std::uint8_t* code_point(const std::uint8_t* at,
                                                         const std::uint8_t* end,
                                                         std::uint8_t*& to) {
        std::uint32_t code = utf16_unit(at, end);
        if (code >= kNoUnit || (code & 0xFC00) == 0xDC00) return nullptr;
        at += 6;
        if ((code & 0xFC00) == 0xD800) {
            const std::uint32_t low = utf16_unit(at, end);
            if (low >= kNoUnit || (low & 0xFC00) != 0xDC00) return nullptr;
            code = 0x10000 + ((code & 0x3FF) << 10 | (low & 0x3FF));
            at += 6;
        }
        to += encode_utf8(code, to);
        return at;
    }
};

}  // namespace neardup::NEARDUP_ISA
