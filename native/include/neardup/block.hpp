// Sixty-four bytes of text at once: which are ASCII word characters, which are not ASCII at all.
#pragma once

#include <cstdint>

#include "isa.hpp"

#if defined(NEARDUP_USE_AVX2)
#include <immintrin.h>
#elif defined(NEARDUP_USE_SSE2)
#include <emmintrin.h>
#endif

namespace neardup::NEARDUP_ISA {

// Bit i speaks of byte i.
struct BlockBits {
    std::uint64_t word;       // ASCII letter, digit or underscore
    std::uint64_t not_ascii;  // part of a longer UTF-8 sequence
};

#if defined(NEARDUP_USE_AVX2)

NEARDUP_INLINE __m256i in_range(__m256i bytes, char first, char last) {
    // Signed comparison: bytes from 0x80 are negative and lie in no ASCII range.
    return _mm256_and_si256(_mm256_cmpgt_epi8(bytes, _mm256_set1_epi8(static_cast<char>(first - 1))),
                            _mm256_cmpgt_epi8(_mm256_set1_epi8(static_cast<char>(last + 1)), bytes));
}

NEARDUP_INLINE BlockBits lower_part(const std::uint8_t* in, std::uint8_t* out) {
    const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in));
    const __m256i upper = in_range(bytes, 'A', 'Z');
    const __m256i lowered =
        _mm256_or_si256(bytes, _mm256_and_si256(upper, _mm256_set1_epi8(0x20)));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), lowered);
    const __m256i word =
        _mm256_or_si256(_mm256_or_si256(in_range(lowered, 'a', 'z'), in_range(bytes, '0', '9')),
                        _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('_')));
    return {static_cast<std::uint32_t>(_mm256_movemask_epi8(word)),
            static_cast<std::uint32_t>(_mm256_movemask_epi8(bytes))};
}

inline constexpr int kPartBytes = 32;

#elif defined(NEARDUP_USE_SSE2)

NEARDUP_INLINE __m128i in_range(__m128i bytes, char first, char last) {
    return _mm_and_si128(_mm_cmpgt_epi8(bytes, _mm_set1_epi8(static_cast<char>(first - 1))),
                         _mm_cmplt_epi8(bytes, _mm_set1_epi8(static_cast<char>(last + 1))));
}

NEARDUP_INLINE BlockBits lower_part(const std::uint8_t* in, std::uint8_t* out) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in));
    const __m128i upper = in_range(bytes, 'A', 'Z');
    const __m128i lowered = _mm_or_si128(bytes, _mm_and_si128(upper, _mm_set1_epi8(0x20)));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out), lowered);
    const __m128i word =
        _mm_or_si128(_mm_or_si128(in_range(lowered, 'a', 'z'), in_range(bytes, '0', '9')),
                     _mm_cmpeq_epi8(bytes, _mm_set1_epi8('_')));
    return {static_cast<std::uint32_t>(_mm_movemask_epi8(word)),
            static_cast<std::uint32_t>(_mm_movemask_epi8(bytes))};
}

inline constexpr int kPartBytes = 16;

#else

NEARDUP_INLINE BlockBits lower_part(const std::uint8_t* in, std::uint8_t* out) {
    BlockBits bits{0, 0};
    for (int i = 0; i < 8; ++i) {
        const std::uint8_t byte = in[i];
        const bool upper = byte >= 'A' && byte <= 'Z';
        const auto lowered = static_cast<std::uint8_t>(upper ? byte | 0x20 : byte);
        out[i] = lowered;
        const bool word = (lowered >= 'a' && lowered <= 'z') || (byte >= '0' && byte <= '9') ||
                          byte == '_';
        bits.word |= static_cast<std::uint64_t>(word) << i;
        bits.not_ascii |= static_cast<std::uint64_t>(byte >> 7) << i;
    }
    return bits;
}

inline constexpr int kPartBytes = 8;

#endif

// Lower the ASCII capitals of 64 bytes from `in` to `out` and say what the bytes are.
NEARDUP_INLINE BlockBits lower_block(const std::uint8_t* in, std::uint8_t* out) {
    BlockBits all{0, 0};
    for (int start = 0; start < 64; start += kPartBytes) {
        const BlockBits part = lower_part(in + start, out + start);
        all.word |= part.word << start;
        all.not_ascii |= part.not_ascii << start;
    }
    return all;
}

}  // namespace neardup::NEARDUP_ISA
