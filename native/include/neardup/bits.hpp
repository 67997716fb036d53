// Words of 64 bits: loading, mixing, counting their bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(NEARDUP_USE_AVX2)
#include <immintrin.h>
#elif defined(NEARDUP_USE_NEON)
#include <arm_neon.h>
#endif

#include "neardup/isa.hpp"

namespace neardup::NEARDUP_ISA {

NEARDUP_INLINE std::uint64_t load64(const std::uint8_t* from) {
    std::uint64_t value;
    std::memcpy(&value, from, 8);
    return value;
}

NEARDUP_INLINE std::uint64_t fold_multiply(std::uint64_t a, std::uint64_t b) {
    const auto product = static_cast<unsigned __int128>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

NEARDUP_INLINE std::uint64_t rotate_half(std::uint64_t x) { return x << 32 | x >> 32; }

#if defined(NEARDUP_USE_AVX2)

NEARDUP_INLINE std::uint32_t bit_count(std::uint64_t x) {
    return static_cast<std::uint32_t>(__builtin_popcountll(x));
}

// The set bits of each byte.
NEARDUP_INLINE __m256i byte_counts(__m256i x) {
    const __m256i counts = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,  //
                                            0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    const __m256i nibble = _mm256_set1_epi8(15);
    return _mm256_add_epi8(
        _mm256_shuffle_epi8(counts, _mm256_and_si256(x, nibble)),
        _mm256_shuffle_epi8(counts, _mm256_and_si256(_mm256_srli_epi32(x, 4), nibble)));
}

NEARDUP_INLINE __m256i load(const void* from) {
    return _mm256_loadu_si256(static_cast<const __m256i*>(from));
}

#elif defined(NEARDUP_USE_NEON)

NEARDUP_INLINE std::uint32_t bit_count(std::uint64_t x) { return vaddv_u8(vcnt_u8(vcreate_u8(x))); }

// The set bits of each half, and of each word.
NEARDUP_INLINE uint32x4_t half_counts(uint8x16_t x) { return vpaddlq_u16(vpaddlq_u8(vcntq_u8(x))); }
NEARDUP_INLINE uint64x2_t word_counts(uint8x16_t x) { return vpaddlq_u32(half_counts(x)); }

#else

// Without an instruction for it. The compiler vectorises loops that call these.
NEARDUP_INLINE std::uint32_t bit_count(std::uint64_t x) {
    x -= x >> 1 & 0x5555555555555555ULL;
    x = (x & 0x3333333333333333ULL) + (x >> 2 & 0x3333333333333333ULL);
    x = (x + (x >> 4)) & 0x0F0F0F0F0F0F0F0FULL;
    x += x >> 8;
    x += x >> 16;
    return static_cast<std::uint32_t>((x + (x >> 32)) & 127);
}

NEARDUP_INLINE std::uint32_t half_count(std::uint32_t x) {
    x -= x >> 1 & 0x55555555U;
    x = (x & 0x33333333U) + (x >> 2 & 0x33333333U);
    x = (x + (x >> 4)) & 0x0F0F0F0FU;
    x += x >> 8;
    return (x + (x >> 16)) & 63;
}

NEARDUP_INLINE std::uint16_t quarter_count(std::uint16_t x) {
    x = static_cast<std::uint16_t>(x - (x >> 1 & 0x5555));
    x = static_cast<std::uint16_t>((x & 0x3333) + (x >> 2 & 0x3333));
    x = static_cast<std::uint16_t>((x + (x >> 4)) & 0x0F0F);
    return static_cast<std::uint16_t>((x + (x >> 8)) & 31);
}

#endif

#if defined(NEARDUP_USE_AVX512)

// The words [at, count) of an array, at most eight, and zeros behind them.
NEARDUP_INLINE __m512i load_words(const std::uint64_t* from, std::size_t at, std::size_t count) {
    if (count - at >= 8) return _mm512_loadu_si512(from + at);
    return _mm512_maskz_loadu_epi64(static_cast<__mmask8>((1U << (count - at)) - 1), from + at);
}

#endif

// The number of bits in which two fingerprints of `limbs` 64-bit limbs differ.
NEARDUP_INLINE std::uint32_t distance_of(const std::uint64_t* x, const std::uint64_t* y,
                                         std::size_t limbs) {
#if defined(NEARDUP_USE_AVX512)
    // The sum over a register takes as long as the bits of about four limbs one by one.
    if (limbs > 4) {
        __m512i sums = _mm512_setzero_si512();
        for (std::size_t at = 0; at < limbs; at += 8)
            sums = _mm512_add_epi64(sums, _mm512_popcnt_epi64(_mm512_xor_si512(
                                              load_words(x, at, limbs), load_words(y, at, limbs))));
        return static_cast<std::uint32_t>(_mm512_reduce_add_epi64(sums));
    }
#endif
    std::uint32_t sum = 0;
    for (std::size_t limb = 0; limb < limbs; ++limb) sum += bit_count(x[limb] ^ y[limb]);
    return sum;
}

}  // namespace neardup::NEARDUP_ISA
