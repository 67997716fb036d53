// The places of the set bits of a block, as numbers.
#pragma once

#include <bit>
#include <cstdint>

#if defined(NEARDUP_USE_AVX2)
#include <immintrin.h>
#endif

#include "neardup/isa.hpp"
#include "neardup/text/eight.hpp"

namespace neardup::NEARDUP_ISA {

// Write base + i for every bit i that is set, ascending; return where the next ones go. Up to 64
// numbers are written in any case.
#if defined(NEARDUP_USE_AVX512)

NEARDUP_INLINE std::uint32_t* write_places(std::uint64_t bits, std::uint32_t base,
                                           std::uint32_t* to) {
    const __m512i places = _mm512_maskz_compress_epi8(bits, ascending<std::uint8_t>());
    const __m512i from = _mm512_set1_epi32(static_cast<int>(base));
    const auto widen = [&](__m128i sixteen) {
        return _mm512_add_epi32(from, _mm512_cvtepu8_epi32(sixteen));
    };
    const int count = std::popcount(bits);
    _mm512_storeu_si512(to, widen(_mm512_castsi512_si128(places)));
    if (count > 16) {
        _mm512_storeu_si512(to + 16, widen(_mm512_extracti32x4_epi32(places, 1)));
        if (count > 32) [[unlikely]] {
            _mm512_storeu_si512(to + 32, widen(_mm512_extracti32x4_epi32(places, 2)));
            _mm512_storeu_si512(to + 48, widen(_mm512_extracti32x4_epi32(places, 3)));
        }
    }
    return to + count;
}

#elif defined(NEARDUP_USE_AVX2)

// The places of the set bits of each byte, one byte each.
struct BytePlaces {
    std::uint64_t of[256];
    constexpr BytePlaces() : of{} {
        for (unsigned byte = 0; byte < 256; ++byte)
            for (unsigned bit = 0, found = 0; bit < 8; ++bit)
                if ((byte >> bit & 1) != 0) of[byte] |= std::uint64_t{bit} << 8 * found++;
    }
};
inline constexpr BytePlaces kBytePlaces;

// Eight bits at a time by a table, without a branch on how many are set.
NEARDUP_INLINE std::uint32_t* write_places(std::uint64_t bits, std::uint32_t base,
                                           std::uint32_t* to) {
    for (int shift = 0; shift < 64; shift += 8) {
        const auto byte = static_cast<std::uint8_t>(bits >> shift);
        const __m256i places = _mm256_cvtepu8_epi32(
            _mm_loadl_epi64(reinterpret_cast<const __m128i*>(&kBytePlaces.of[byte])));
        const __m256i from = _mm256_set1_epi32(static_cast<int>(base) + shift);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm256_add_epi32(places, from));
        to += std::popcount(byte);
    }
    return to;
}

#else

NEARDUP_INLINE std::uint32_t* write_places(std::uint64_t bits, std::uint32_t base,
                                           std::uint32_t* to) {
    const int count = std::popcount(bits);
    for (int done = 0; done < count; done += 8) {
        for (int i = 0; i < 8; ++i) {
            to[done + i] = base + static_cast<std::uint32_t>(std::countr_zero(bits));
            bits &= bits - 1;
        }
    }
    return to + count;
}

#endif

}  // namespace neardup::NEARDUP_ISA
