// As many bytes as one vector register holds, compared all at once.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(NEARDUP_USE_AVX2)
#include <immintrin.h>
#elif defined(NEARDUP_USE_SSE2)
#include <emmintrin.h>
#elif defined(NEARDUP_USE_NEON)
#include <arm_neon.h>
#endif

#include "neardup/isa.hpp"

namespace neardup::NEARDUP_ISA {

// Bytes are signed, because that is how SSE2 and AVX2 compare; ASCII is what is not negative.
// Comparisons give `Matches`, which combine with each other, and with bytes: `matches & bytes` has
// the bytes that matched, and zeros.

#if defined(NEARDUP_USE_AVX512)

inline constexpr int kVectorBytes = 64;

// A bit for each byte, in a mask register.
struct Matches {
    __mmask64 bits;

    NEARDUP_INLINE Matches operator&(Matches other) const { return {bits & other.bits}; }
    NEARDUP_INLINE Matches operator|(Matches other) const { return {bits | other.bits}; }
};

struct Bytes {
    __m512i all;

    NEARDUP_INLINE Bytes operator&(Bytes other) const { return {_mm512_and_si512(all, other.all)}; }
    NEARDUP_INLINE Bytes operator|(Bytes other) const { return {_mm512_or_si512(all, other.all)}; }
    NEARDUP_INLINE Bytes operator^(Bytes other) const { return {_mm512_xor_si512(all, other.all)}; }
    NEARDUP_INLINE Matches operator==(Bytes other) const {
        return {_mm512_cmpeq_epi8_mask(all, other.all)};
    }
    NEARDUP_INLINE Matches operator<(Bytes other) const {
        return {_mm512_cmplt_epi8_mask(all, other.all)};
    }
    NEARDUP_INLINE Matches operator>(Bytes other) const {
        return {_mm512_cmpgt_epi8_mask(all, other.all)};
    }
};

NEARDUP_INLINE Bytes operator&(Matches matches, Bytes bytes) {
    return {_mm512_maskz_mov_epi8(matches.bits, bytes.all)};
}

NEARDUP_INLINE Bytes each(int byte) { return {_mm512_set1_epi8(static_cast<char>(byte))}; }

NEARDUP_INLINE std::uint64_t high_bits(Matches matches) { return matches.bits; }

NEARDUP_INLINE std::uint64_t high_bits(Bytes bytes) { return _mm512_movepi8_mask(bytes.all); }

#else

#if defined(NEARDUP_USE_AVX2)
inline constexpr int kVectorBytes = 32;
#elif defined(NEARDUP_USE_SSE2) || defined(NEARDUP_USE_NEON)
inline constexpr int kVectorBytes = 16;
#else
inline constexpr int kVectorBytes = 8;
#endif

// Vectors of the compiler's own kind: the same code for every instruction set. A comparison gives
// 0xFF for true.
typedef std::int8_t Bytes __attribute__((vector_size(kVectorBytes)));
using Matches = Bytes;

NEARDUP_INLINE Bytes each(int byte) { return Bytes{} + static_cast<std::int8_t>(byte); }

// Bit i: the highest bit of byte i, and whether it matches.
NEARDUP_INLINE std::uint64_t high_bits(Bytes bytes) {
#if defined(NEARDUP_USE_AVX2)
    return static_cast<std::uint32_t>(_mm256_movemask_epi8(reinterpret_cast<__m256i>(bytes)));
#elif defined(NEARDUP_USE_SSE2)
    return static_cast<std::uint32_t>(_mm_movemask_epi8(reinterpret_cast<__m128i>(bytes)));
#elif defined(NEARDUP_USE_NEON)
    const uint8x16_t places = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    uint8x16_t bits = vandq_u8(vcltzq_s8(reinterpret_cast<int8x16_t>(bytes)), places);
    for (int adding = 0; adding < 3; ++adding) bits = vpaddq_u8(bits, bits);
    return vgetq_lane_u16(vreinterpretq_u16_u8(bits), 0);
#else
    std::uint64_t all;
    std::memcpy(&all, &bytes, sizeof all);
    return (all >> 7 & 0x0101010101010101ULL) * 0x0102040810204080ULL >> 56;
#endif
}

#endif

NEARDUP_INLINE Bytes load_bytes(const std::uint8_t* from) {
    Bytes bytes;
    std::memcpy(&bytes, from, sizeof bytes);
    return bytes;
}

// Not for a range that begins with the least byte, 0x80, or ends with the largest, 0x7F.
NEARDUP_INLINE Matches in_range(Bytes bytes, char first, char last) {
    return (bytes > each(first - 1)) & (bytes < each(last + 1));
}

}  // namespace neardup::NEARDUP_ISA
