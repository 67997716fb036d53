// One limb against several: which of them differ from it in few enough bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "neardup/bits.hpp"
#include "neardup/isa.hpp"

namespace neardup::NEARDUP_ISA {

#if defined(NEARDUP_USE_AVX2)

inline constexpr std::size_t kHalves = 16;  // compared at a time
inline constexpr std::size_t kLimbs = 8;

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

#else

inline constexpr std::size_t kHalves = 16;
inline constexpr std::size_t kLimbs = 8;

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
