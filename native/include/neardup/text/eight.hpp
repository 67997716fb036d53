// The steps of nd1 on eight words of 64 bits at once, where AVX-512 is to be had.
#pragma once

#if defined(NEARDUP_USE_AVX512)

#include <immintrin.h>

#include <bit>
#include <cstddef>
#include <cstdint>

#include "neardup/isa.hpp"
#include "neardup/text/nd1_keys.hpp"

namespace neardup::NEARDUP_ISA {

NEARDUP_INLINE __m512i load_eight(const void* from) { return _mm512_loadu_si512(from); }

NEARDUP_INLINE __m512i eight_times(std::uint64_t word) {
    return _mm512_set1_epi64(static_cast<long long>(word));
}

// A register full of the numbers from 0.
template <typename Number>
NEARDUP_INLINE __m512i ascending() {
    static constexpr struct Numbers {
        Number of[64 / sizeof(Number)];
        constexpr Numbers() : of{} {
            for (std::size_t i = 0; i < 64 / sizeof(Number); ++i) of[i] = static_cast<Number>(i);
        }
    } numbers;
    return load_eight(numbers.of);
}

// The halves of the products of 64 × 64 bits, one upon the other, from products of 32 × 32. The
// upper halves of the factors come beside them: where they are always the same, the compiler makes
// their product only once.
NEARDUP_INLINE __m512i fold_multiply(__m512i a, __m512i a_high, __m512i b, __m512i b_high) {
    const __m512i low = _mm512_mul_epu32(a, b), high = _mm512_mul_epu32(a_high, b_high);
    const __m512i cross = _mm512_add_epi64(_mm512_srli_epi64(low, 32), _mm512_mul_epu32(a, b_high));
    const __m512i middle = _mm512_add_epi64(_mm512_and_si512(cross, eight_times(0xFFFFFFFF)),
                                            _mm512_mul_epu32(a_high, b));
    const __m512i top = _mm512_add_epi64(_mm512_add_epi64(high, _mm512_srli_epi64(cross, 32)),
                                         _mm512_srli_epi64(middle, 32));
    // The lower half of `low`, and that of `middle` above it.
    const __m512i bottom = _mm512_mask_shuffle_epi32(low, 0xAAAA, middle, _MM_PERM_CCAA);
    return _mm512_xor_si512(top, bottom);
}

NEARDUP_INLINE __m512i fold_multiply(__m512i a, __m512i b) {
    return fold_multiply(a, _mm512_srli_epi64(a, 32), b, _mm512_srli_epi64(b, 32));
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

// The values of eight units of up to four bytes, with zeros behind them. `lengths` holds kHighKey
// upon the length of each.
NEARDUP_INLINE __m512i short_values_of_eight(__m512i units, __m512i lengths) {
    return fold_multiply(_mm512_xor_si512(units, eight_times(kLowKey)), eight_times(kLowKey >> 32),
                         lengths, eight_times(kHighKey >> 32));
}

// Eight words, of which word i has `step` times i in every byte.
NEARDUP_INLINE __m512i steps_of_eight(std::uint64_t step) {
    const __m512i places = _mm512_mullo_epi64(ascending<std::uint64_t>(), eight_times(step));
    return _mm512_shuffle_epi8(places,
                               _mm512_and_si512(ascending<std::uint8_t>(), _mm512_set1_epi8(8)));
}

// The places of eight bytes, one after the other.
inline constexpr std::uint64_t kOneByOne = 0x0706050403020100;

// Append the values of the characters that begin at the set bits of a block of 64 bytes, which goes
// on in `behind`; where the next one goes. Up to seven values behind are written too.
NEARDUP_INLINE std::uint64_t* add_characters(__m512i block, __m512i behind, std::uint64_t starts,
                                             std::uint64_t* to) {
    // By the upper half of its first byte a character has one byte (up to B), two (C and D), three
    // (E) or four (F).
    const auto by_lead = [](__m512i leads, long long one, long long two, long long three,
                            long long four) {
        return _mm512_permutex2var_epi64(
            _mm512_set1_epi64(one), leads,
            _mm512_set_epi64(four, three, two, two, one, one, one, one));
    };
    constexpr auto key = static_cast<long long>(kHighKey);
    const __m512i places = _mm512_maskz_compress_epi8(starts, ascending<std::uint8_t>());
    const int count = std::popcount(starts);
    __m512i eight = steps_of_eight(1);
    for (int done = 0; done < count; done += 8) {
        const __m512i from =
            _mm512_add_epi8(_mm512_permutexvar_epi8(eight, places), eight_times(kOneByOne));
        const __m512i bytes = _mm512_permutex2var_epi8(block, from, behind);
        const __m512i leads = _mm512_srli_epi64(bytes, 4);
        const __m512i kept = by_lead(leads, 0xFF, 0xFFFF, 0xFFFFFF, 0xFFFFFFFF);
        _mm512_storeu_si512(
            to + done, short_values_of_eight(_mm512_and_si512(bytes, kept),
                                             by_lead(leads, key ^ 1, key ^ 2, key ^ 3, key ^ 4)));
        eight = _mm512_add_epi8(eight, _mm512_set1_epi8(8));
    }
    return to + count;
}

// Append the values of characters of three bytes each; where the next one goes. Up to seven values
// behind are written too, and up to 31 bytes behind the text are read.
NEARDUP_INLINE std::uint64_t* add_threes(const std::uint8_t* text, std::size_t size,
                                         std::uint64_t* to) {
    const __m512i spread = _mm512_add_epi8(steps_of_eight(3), eight_times(kOneByOne));
    std::uint64_t* next = to;
    for (std::size_t at = 0; at < size; at += 3 * 8, next += 8) {
        const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(text + at));
        const __m512i characters = _mm512_and_si512(
            _mm512_permutexvar_epi8(spread, _mm512_castsi256_si512(bytes)), eight_times(0xFFFFFF));
        _mm512_storeu_si512(next, short_values_of_eight(characters, eight_times(kHighKey ^ 3)));
    }
    return to + size / 3;
}

// Copy those of 32 words whose bits are set, together; where the next one goes. Other words are not
// read; up to eight words behind are written too.
NEARDUP_INLINE std::uint64_t* copy_chosen(const std::uint64_t* from, std::uint32_t chosen,
                                          std::uint64_t* to) {
    for (int i = 0; i < 32; i += 8) {
        const auto eight = static_cast<__mmask8>(chosen >> i);
        _mm512_storeu_si512(
            to, _mm512_maskz_compress_epi64(eight, _mm512_maskz_loadu_epi64(eight, from + i)));
        to += __builtin_popcount(eight);
    }
    return to;
}

}  // namespace neardup::NEARDUP_ISA

#endif
