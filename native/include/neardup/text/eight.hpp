// The steps of nd1 on eight words of 64 bits at once, where AVX-512 is to be had.
#pragma once

#if defined(NEARDUP_USE_AVX512)

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "neardup/isa.hpp"
#include "neardup/text/nd1_keys.hpp"

namespace neardup::NEARDUP_ISA {

NEARDUP_INLINE __m512i load_eight(const void* from) { return _mm512_loadu_si512(from); }

NEARDUP_INLINE __m512i eight_times(std::uint64_t word) {
    return _mm512_set1_epi64(static_cast<long long>(word));
}

// The halves of the products of 64 × 64 bits, one upon the other, from products of 32 × 32.
NEARDUP_INLINE __m512i fold_multiply(__m512i a, __m512i b) {
    const __m512i low_half = eight_times(0xFFFFFFFF);
    const __m512i a_high = _mm512_srli_epi64(a, 32), b_high = _mm512_srli_epi64(b, 32);
    const __m512i low = _mm512_mul_epu32(a, b), high = _mm512_mul_epu32(a_high, b_high);
    const __m512i cross = _mm512_add_epi64(_mm512_srli_epi64(low, 32), _mm512_mul_epu32(a, b_high));
    const __m512i middle =
        _mm512_add_epi64(_mm512_and_si512(cross, low_half), _mm512_mul_epu32(a_high, b));
    const __m512i top = _mm512_add_epi64(_mm512_add_epi64(high, _mm512_srli_epi64(cross, 32)),
                                         _mm512_srli_epi64(middle, 32));
    const __m512i bottom =
        _mm512_or_si512(_mm512_and_si512(low, low_half), _mm512_slli_epi64(middle, 32));
    return _mm512_xor_si512(top, bottom);
}

NEARDUP_INLINE __m512i features_of_eight(__m512i totals) {
    return fold_multiply(_mm512_xor_si512(totals, eight_times(kFeatureKey)),
                         _mm512_xor_si512(_mm512_rol_epi64(totals, 32), eight_times(kTurnedKey)));
}

NEARDUP_INLINE __m512i widen_eight(__m512i features, std::uint64_t place) {
    return fold_multiply(_mm512_xor_si512(features, eight_times(place * kWidthStep)),
                         _mm512_xor_si512(_mm512_rol_epi64(features, 32), eight_times(kWidthKey)));
}

// The features of windows of `size` units, as far as they come in eights; how many.
NEARDUP_INLINE std::size_t window_features_in_eights(const std::uint64_t* values,
                                                     std::size_t windows, std::size_t size,
                                                     std::uint64_t* out) {
    std::size_t i = 0;
    for (; i + 8 <= windows; i += 8) {
        __m512i totals = load_eight(values + i);
        for (std::size_t j = 1; j < size; ++j)
            totals = _mm512_add_epi64(_mm512_mullo_epi64(totals, eight_times(kShingleBase)),
                                      load_eight(values + i + j));
        _mm512_storeu_si512(out + i, features_of_eight(totals));
    }
    return i;
}

// The values of eight units.
struct EightUnits {
    __m512i values;
    unsigned longer;  // bit i: unit i has more than 16 bytes, and its value is not right
    bool solos;       // one of them may be a run of solo characters
};

// Of the units between eight pairs of edges in a text.
NEARDUP_INLINE EightUnits unit_values_of_eight(const std::uint8_t* text,
                                               const std::uint32_t* edges) {
    const __m512i pairs = load_eight(edges);
    const __m512i lengths = _mm512_sub_epi64(_mm512_srli_epi64(pairs, 32),
                                             _mm512_and_si512(pairs, eight_times(0xFFFFFFFF)));
    const auto sixteen_bytes = [&](int unit) {
        return _mm_loadu_si128(reinterpret_cast<const __m128i*>(text + edges[2 * unit]));
    };
    const auto every_other = [&](int first) {
        __m512i units = _mm512_castsi128_si512(sixteen_bytes(first));
        units = _mm512_inserti32x4(units, sixteen_bytes(first + 2), 1);
        units = _mm512_inserti32x4(units, sixteen_bytes(first + 4), 2);
        return _mm512_inserti32x4(units, sixteen_bytes(first + 6), 3);
    };
    const __m512i even = every_other(0), odd = every_other(1);
    const __m512i low = _mm512_unpacklo_epi64(even, odd), high = _mm512_unpackhi_epi64(even, odd);
    // Shifted by 64 or more, nothing is left of a word.
    const __m512i ones = eight_times(~0ULL), bits = _mm512_slli_epi64(lengths, 3);
    const __m512i low_mask = _mm512_srlv_epi64(ones, _mm512_subs_epu16(eight_times(64), bits));
    const __m512i high_mask = _mm512_srlv_epi64(ones, _mm512_subs_epu16(eight_times(128), bits));
    const __m512i values =
        fold_multiply(_mm512_xor_si512(_mm512_and_si512(low, low_mask), eight_times(kLowKey)),
                      _mm512_xor_si512(_mm512_and_si512(high, high_mask),
                                       _mm512_xor_si512(lengths, eight_times(kHighKey))));
    const __m512i leads = _mm512_and_si512(low, eight_times(0xFF));
    return {values, _mm512_cmpgt_epu64_mask(lengths, eight_times(16)),
            _mm512_cmpge_epu64_mask(leads, eight_times(0xE3)) != 0};
}

// Copy those of up to 64 words whose bits are set, together; where the next one goes. Up to seven
// words behind are written too.
NEARDUP_INLINE std::uint64_t* copy_chosen(const std::uint64_t* from, std::uint64_t chosen,
                                          std::uint64_t* to) {
    for (; chosen != 0; chosen >>= 8, from += 8) {
        const auto eight = static_cast<__mmask8>(chosen);
        _mm512_storeu_si512(
            to, _mm512_maskz_compress_epi64(eight, _mm512_maskz_loadu_epi64(eight, from)));
        to += __builtin_popcount(eight);
    }
    return to;
}

}  // namespace neardup::NEARDUP_ISA

#endif
