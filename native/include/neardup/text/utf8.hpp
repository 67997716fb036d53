// Validation of UTF-8.
//
// The vector version classifies each byte together with the one before it by three table look-ups
// (Keiser and Lemire, "Validating UTF-8 in less than one instruction per byte", 2021).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "neardup/isa.hpp"
#include "neardup/text/block.hpp"
#include "neardup/text/nd1.hpp"

namespace neardup::NEARDUP_ISA {

NEARDUP_INLINE bool is_continuation(std::uint8_t byte) { return (byte & 0xC0) == 0x80; }

// The length of the well-formed sequence at `at`, or 0. The second byte tells overlong forms,
// surrogates and code points above U+10FFFF.
NEARDUP_INLINE std::size_t sequence_length(const std::uint8_t* at, std::size_t left) {
    const std::uint8_t lead = at[0];
    if (lead < 0x80) return 1;
    if (lead < 0xC2 || lead > 0xF4) return 0;
    const std::size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (left < length || !is_continuation(at[1])) return 0;
    if (lead == 0xE0 && at[1] < 0xA0) return 0;
    if (lead == 0xED && at[1] > 0x9F) return 0;
    if (lead == 0xF0 && at[1] < 0x90) return 0;
    if (lead == 0xF4 && at[1] > 0x8F) return 0;
    for (std::size_t i = 2; i < length; ++i)
        if (!is_continuation(at[i])) return 0;
    return length;
}

#if defined(NEARDUP_USE_AVX2)

class Utf8Check {
  public:
    static bool run(const std::uint8_t* text, std::size_t size) {
        // Each block is looked at together with the three bytes before it; around the text are
        // zeros, so that a sequence cut off at its end is followed by something too short.
        std::uint8_t padded[3 + 32 + 3] = {};
        __m256i errors = _mm256_setzero_si256();
        std::memcpy(padded + 3, text, size < 32 ? size : 32);
        errors = _mm256_or_si256(errors, block_errors(padded + 3));
        std::size_t at = 32;
        for (; at + 32 <= size; at += 32) {
            const __m256i bytes = load(text + at), before = load(text + at - 3);
            if (_mm256_movemask_epi8(_mm256_or_si256(bytes, before)) != 0)
                errors = _mm256_or_si256(errors, block_errors(text + at));
        }
        if (at < size + 3) {  // what is left, or only the end of the last sequence
            const std::size_t known = at < size ? size - at : 0;
            const std::size_t before = at < size ? 3 : size + 3 - at;
            std::memset(padded, 0, sizeof padded);
            std::memcpy(padded, text + at - 3, before + known);
            errors = _mm256_or_si256(errors, block_errors(padded + 3));
        }
        return _mm256_testz_si256(errors, errors) != 0;
    }

  private:
    enum : std::uint8_t {
        kTooShort = 1 << 0,   // a lead byte without its continuation
        kTooLong = 1 << 1,    // a continuation behind ASCII
        kOverlong3 = 1 << 2,  // E0 with less than A0
        kTooLarge = 1 << 3,   // F4 with more than 8F, F5 and more
        kSurrogate = 1 << 4,  // ED with more than 9F
        kOverlong2 = 1 << 5,  // C0, C1
        kTooLarge1000 = 1 << 6,
        kOverlong4 = 1 << 6,  // F0 with less than 90
        kTwoContinuations = 1 << 7,
        kCarry = kTooShort | kTooLong | kTwoContinuations,
    };

    static NEARDUP_INLINE __m256i load(const std::uint8_t* from) {
        return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    }

    static NEARDUP_INLINE __m256i look_up(const std::uint8_t (&table)[16], __m256i nibbles) {
        const __m128i half = _mm_loadu_si128(reinterpret_cast<const __m128i*>(table));
        return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(half), nibbles);
    }

    static NEARDUP_INLINE __m256i high_nibbles(__m256i bytes) {
        return _mm256_and_si256(_mm256_srli_epi16(bytes, 4), _mm256_set1_epi8(15));
    }

    static NEARDUP_INLINE __m256i block_errors(const std::uint8_t* at) {
        const __m256i bytes = load(at), one_before = load(at - 1);
        const __m256i pairs = _mm256_and_si256(
            _mm256_and_si256(
                look_up(kFirstHigh, high_nibbles(one_before)),
                look_up(kFirstLow, _mm256_and_si256(one_before, _mm256_set1_epi8(15)))),
            look_up(kSecondHigh, high_nibbles(bytes)));
        // Two continuations in a row are right exactly where a sequence of three or four runs.
        const __m256i third = _mm256_subs_epu8(load(at - 2), _mm256_set1_epi8(0xE0 - 0x80));
        const __m256i fourth =
            _mm256_subs_epu8(load(at - 3), _mm256_set1_epi8(static_cast<char>(0xF0 - 0x80)));
        const __m256i expected = _mm256_and_si256(_mm256_or_si256(third, fourth),
                                                  _mm256_set1_epi8(static_cast<char>(0x80)));
        return _mm256_xor_si256(expected, pairs);
    }

    static constexpr std::uint8_t kLargeLow = kCarry | kTooLarge | kTooLarge1000;
    static constexpr std::uint8_t kContinued = kTooLong | kOverlong2 | kTwoContinuations;
    // clang-format off
    static constexpr std::uint8_t kFirstHigh[16] = {
        kTooLong, kTooLong, kTooLong, kTooLong, kTooLong, kTooLong, kTooLong, kTooLong,
        kTwoContinuations, kTwoContinuations, kTwoContinuations, kTwoContinuations,
        kTooShort | kOverlong2, kTooShort, kTooShort | kOverlong3 | kSurrogate,
        kTooShort | kTooLarge | kTooLarge1000 | kOverlong4,
    };
    static constexpr std::uint8_t kFirstLow[16] = {
        kCarry | kOverlong3 | kOverlong2 | kOverlong4, kCarry | kOverlong2, kCarry, kCarry,
        kCarry | kTooLarge, kLargeLow, kLargeLow, kLargeLow,
        kLargeLow, kLargeLow, kLargeLow, kLargeLow,
        kLargeLow, kLargeLow | kSurrogate, kLargeLow, kLargeLow,
    };
    static constexpr std::uint8_t kSecondHigh[16] = {
        kTooShort, kTooShort, kTooShort, kTooShort, kTooShort, kTooShort, kTooShort, kTooShort,
        kContinued | kOverlong3 | kTooLarge1000 | kOverlong4, kContinued | kOverlong3 | kTooLarge,
        kContinued | kSurrogate | kTooLarge, kContinued | kSurrogate | kTooLarge,
        kTooShort, kTooShort, kTooShort, kTooShort,
    };
    // clang-format on
};

inline bool is_utf8(const std::uint8_t* text, std::size_t size) {
    return Utf8Check::run(text, size);
}

#else

inline bool is_utf8(const std::uint8_t* text, std::size_t size) {
    for (std::size_t at = 0; at < size;) {
        if (size - at >= 8 && (load64(text + at) & 0x8080808080808080ULL) == 0) {
            at += 8;
            continue;
        }
        const std::size_t length = sequence_length(text + at, size - at);
        if (length == 0) return false;
        at += length;
    }
    return true;
}

#endif

}  // namespace neardup::NEARDUP_ISA
