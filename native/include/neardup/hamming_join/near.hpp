// One limb against several: which of them differ from it in few enough bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "neardup/bits.hpp"
#include "neardup/byte_vector.hpp"
#include "neardup/isa.hpp"

namespace neardup::NEARDUP_ISA {

inline constexpr std::size_t kQuarters = 32;  // compared at a time
inline constexpr std::size_t kHalves = 16;
inline constexpr std::size_t kLimbs = 8;

#if defined(NEARDUP_USE_AVX512)

// A bit for each of the next `kQuarters` quarters that differ from `x` in at most `most` bits.
NEARDUP_INLINE std::uint32_t near_quarters(std::uint16_t x, const std::uint16_t* others,
                                           std::uint32_t most) {
    const __m512i differ =
        _mm512_xor_si512(_mm512_set1_epi16(static_cast<short>(x)), _mm512_loadu_si512(others));
    return _mm512_cmple_epu16_mask(_mm512_popcnt_epi16(differ),
                                   _mm512_set1_epi16(static_cast<short>(most)));
}

// A bit for each of the next `kHalves` halves that differ from `x` in at most `most` bits.
NEARDUP_INLINE std::uint32_t near_halves(std::uint32_t x, const std::uint32_t* others,
                                         std::uint32_t most) {
    const __m512i differ =
        _mm512_xor_si512(_mm512_set1_epi32(static_cast<int>(x)), _mm512_loadu_si512(others));
    return _mm512_cmple_epu32_mask(_mm512_popcnt_epi32(differ),
                                   _mm512_set1_epi32(static_cast<int>(most)));
}

// The differing bits of eight limbs each, added up over rows.
struct LimbSums {
    __m512i sums = _mm512_setzero_si512();

    NEARDUP_INLINE void add(std::uint64_t x, const std::uint64_t* others) {
        const __m512i same = _mm512_set1_epi64(static_cast<long long>(x));
        const __m512i differ = _mm512_xor_si512(same, _mm512_loadu_si512(others));
        sums = _mm512_add_epi64(sums, _mm512_popcnt_epi64(differ));
    }

    // A bit for each sum that is at most `most`.
    NEARDUP_INLINE std::uint32_t within(std::uint32_t most) const {
        return _mm512_cmple_epu64_mask(sums, _mm512_set1_epi64(static_cast<long long>(most)));
    }
};

#elif defined(NEARDUP_USE_AVX2)

NEARDUP_INLINE std::uint32_t near_quarters(std::uint16_t x, const std::uint16_t* others,
                                           std::uint32_t most) {
    const __m256i same = _mm256_set1_epi16(static_cast<short>(x));
    const __m256i limit = _mm256_set1_epi16(static_cast<short>(most + 1));
    const __m256i ones = _mm256_set1_epi8(1);
    const auto near = [&](const std::uint16_t* sixteen) {
        const __m256i counts = byte_counts(_mm256_xor_si256(same, load(sixteen)));
        return _mm256_cmpgt_epi16(limit, _mm256_maddubs_epi16(counts, ones));
    };
    const __m256i low = near(others), high = near(others + 16);
    const __m256i any = _mm256_or_si256(low, high);
    if (_mm256_testz_si256(any, any)) return 0;
    const __m256i bytes = _mm256_permute4x64_epi64(_mm256_packs_epi16(low, high), 0xD8);
    return static_cast<std::uint32_t>(_mm256_movemask_epi8(bytes));
}

// A bit for each of the next `kHalves` halves that differ from `x` in at most `most` bits.
NEARDUP_INLINE std::uint32_t near_halves(std::uint32_t x, const std::uint32_t* others,
                                         std::uint32_t most) {
    const __m256i same = _mm256_set1_epi32(static_cast<int>(x));
    const __m256i limit = _mm256_set1_epi32(static_cast<int>(most) + 1);
    const __m256i ones8 = _mm256_set1_epi8(1), ones16 = _mm256_set1_epi16(1);
    const auto near = [&](const std::uint32_t* eight) {
        const __m256i counts = byte_counts(_mm256_xor_si256(same, load(eight)));
        const __m256i sums = _mm256_madd_epi16(_mm256_maddubs_epi16(counts, ones8), ones16);
        return _mm256_cmpgt_epi32(limit, sums);
    };
    const __m256i low = near(others), high = near(others + 8);
    const __m256i any = _mm256_or_si256(low, high);
    if (_mm256_testz_si256(any, any)) return 0;
    return static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(low))) |
           static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(high))) << 8;
}

// The differing bits of four limbs each, added up over rows; `kLimbs` sums at a time.
struct LimbSums {
    __m256i low = _mm256_setzero_si256(), high = _mm256_setzero_si256();

    NEARDUP_INLINE void add(std::uint64_t x, const std::uint64_t* others) {
        const __m256i same = _mm256_set1_epi64x(static_cast<long long>(x));
        const __m256i zero = _mm256_setzero_si256();
        low = _mm256_add_epi64(
            low, _mm256_sad_epu8(byte_counts(_mm256_xor_si256(same, load(others))), zero));
        high = _mm256_add_epi64(
            high, _mm256_sad_epu8(byte_counts(_mm256_xor_si256(same, load(others + 4))), zero));
    }

    // A bit for each sum that is at most `most`.
    NEARDUP_INLINE std::uint32_t within(std::uint32_t most) const {
        const __m256i limit = _mm256_set1_epi64x(static_cast<long long>(most) + 1);
        const __m256i a = _mm256_cmpgt_epi64(limit, low), b = _mm256_cmpgt_epi64(limit, high);
        const __m256i any = _mm256_or_si256(a, b);
        if (_mm256_testz_si256(any, any)) return 0;
        return static_cast<std::uint32_t>(_mm256_movemask_pd(_mm256_castsi256_pd(a))) |
               static_cast<std::uint32_t>(_mm256_movemask_pd(_mm256_castsi256_pd(b))) << 4;
    }
};

#elif defined(NEARDUP_USE_NEON)

NEARDUP_INLINE std::uint32_t near_quarters(std::uint16_t x, const std::uint16_t* others,
                                           std::uint32_t most) {
    const uint16x8_t same = vdupq_n_u16(x), limit = vdupq_n_u16(static_cast<std::uint16_t>(most));
    const auto near = [&](const std::uint16_t* eight) {
        const uint8x16_t differ = vreinterpretq_u8_u16(veorq_u16(same, vld1q_u16(eight)));
        return vmovn_u16(vcleq_u16(vpaddlq_u8(vcntq_u8(differ)), limit));
    };
    const uint8x16_t low = vcombine_u8(near(others), near(others + 8));
    const uint8x16_t high = vcombine_u8(near(others + 16), near(others + 24));
    if (vmaxvq_u8(vorrq_u8(low, high)) == 0) return 0;
    return static_cast<std::uint32_t>(high_bits(reinterpret_cast<Bytes>(low)) |
                                      high_bits(reinterpret_cast<Bytes>(high)) << 16);
}

NEARDUP_INLINE std::uint32_t near_halves(std::uint32_t x, const std::uint32_t* others,
                                         std::uint32_t most) {
    const uint32x4_t same = vdupq_n_u32(x), limit = vdupq_n_u32(most);
    const auto near = [&](const std::uint32_t* four) {
        const uint32x4_t differ = veorq_u32(same, vld1q_u32(four));
        return vmovn_u32(vcleq_u32(half_counts(vreinterpretq_u8_u32(differ)), limit));
    };
    const uint16x8_t low = vcombine_u16(near(others), near(others + 4));
    const uint16x8_t high = vcombine_u16(near(others + 8), near(others + 12));
    if (vmaxvq_u16(vorrq_u16(low, high)) == 0) return 0;
    return static_cast<std::uint32_t>(
        high_bits(reinterpret_cast<Bytes>(vcombine_u8(vmovn_u16(low), vmovn_u16(high)))));
}

struct LimbSums {
    uint64x2_t sums[kLimbs / 2] = {};

    NEARDUP_INLINE void add(std::uint64_t x, const std::uint64_t* others) {
        const uint64x2_t same = vdupq_n_u64(x);
        for (std::size_t i = 0; i < kLimbs / 2; ++i) {
            const uint64x2_t differ = veorq_u64(same, vld1q_u64(others + 2 * i));
            sums[i] = vaddq_u64(sums[i], word_counts(vreinterpretq_u8_u64(differ)));
        }
    }

    NEARDUP_INLINE std::uint32_t within(std::uint32_t most) const {
        const uint64x2_t limit = vdupq_n_u64(most);
        const auto near = [&](uint64x2_t low, uint64x2_t high) {
            return vmovn_u32(
                vcombine_u32(vmovn_u64(vcleq_u64(low, limit)), vmovn_u64(vcleq_u64(high, limit))));
        };
        const uint8x8_t all =
            vmovn_u16(vcombine_u16(near(sums[0], sums[1]), near(sums[2], sums[3])));
        if (vget_lane_u64(vreinterpret_u64_u8(all), 0) == 0) return 0;
        return static_cast<std::uint32_t>(
            high_bits(reinterpret_cast<Bytes>(vcombine_u8(all, vdup_n_u8(0)))));
    }
};

#else

NEARDUP_INLINE std::uint32_t near_quarters(std::uint16_t x, const std::uint16_t* others,
                                           std::uint32_t most) {
    // All in 16 bits, so that eight fit a register. A difference below zero has its top bit set.
    const auto limit = static_cast<std::uint16_t>(most + 1);
    std::uint16_t beyond[kQuarters], any = 0;
    for (std::size_t i = 0; i < kQuarters; ++i) {
        const auto differ = static_cast<std::uint16_t>(x ^ others[i]);
        beyond[i] = static_cast<std::uint16_t>(quarter_count(differ) - limit);
        any = static_cast<std::uint16_t>(any | beyond[i]);
    }
    if (any >> 15 == 0) return 0;
    std::uint32_t near = 0;
    for (std::size_t i = 0; i < kQuarters; ++i)
        near |= static_cast<std::uint32_t>(beyond[i] >> 15) << i;
    return near;
}

NEARDUP_INLINE std::uint32_t near_halves(std::uint32_t x, const std::uint32_t* others,
                                         std::uint32_t most) {
    std::uint32_t counts[kHalves], any = 0;
    for (std::size_t i = 0; i < kHalves; ++i) {
        counts[i] = half_count(x ^ others[i]);
        any |= counts[i] <= most ? 1U : 0U;
    }
    if (any == 0) return 0;
    std::uint32_t near = 0;
    for (std::size_t i = 0; i < kHalves; ++i)
        near |= static_cast<std::uint32_t>(counts[i] <= most) << i;
    return near;
}

struct LimbSums {
    std::uint64_t sums[kLimbs] = {};

    NEARDUP_INLINE void add(std::uint64_t x, const std::uint64_t* others) {
        for (std::size_t i = 0; i < kLimbs; ++i) sums[i] += bit_count(x ^ others[i]);
    }

    NEARDUP_INLINE std::uint32_t within(std::uint32_t most) const {
        std::uint64_t any = 0;  // a difference below zero has its top bit set
        for (std::size_t i = 0; i < kLimbs; ++i) any |= sums[i] - most - 1;
        if (any >> 63 == 0) return 0;
        std::uint32_t near = 0;
        for (std::size_t i = 0; i < kLimbs; ++i)
            near |= static_cast<std::uint32_t>(sums[i] <= most) << i;
        return near;
    }
};

#endif

}  // namespace neardup::NEARDUP_ISA
