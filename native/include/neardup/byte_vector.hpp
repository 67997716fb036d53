// As many bytes as one vector register holds, compared all at once.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(NEARDUP_USE_AVX2)
#include <immintrin.h>
#elif defined(NEARDUP_USE_SSE2)
#include <emmintrin.h>
#endif

#include "neardup/isa.hpp"

namespace neardup::NEARDUP_ISA {

#if defined(NEARDUP_USE_AVX2)
inline constexpr int kVectorBytes = 32;
#elif defined(NEARDUP_USE_SSE2)
inline constexpr int kVectorBytes = 16;
#else
inline constexpr int kVectorBytes = 8;
#endif

// Vectors of the compiler's own kind: the same code for every instruction set. A comparison gives
// 0xFF for true. Signed, because that is how SSE2 and AVX2 compare; ASCII is what is not negative.
typedef std::int8_t Bytes __attribute__((vector_size(kVectorBytes)));

NEARDUP_INLINE Bytes load_bytes(const std::uint8_t* from) {
    Bytes bytes;
    std::memcpy(&bytes, from, sizeof bytes);
    return bytes;
}

NEARDUP_INLINE Bytes each(int byte) { return Bytes{} + static_cast<std::int8_t>(byte); }

NEARDUP_INLINE Bytes in_range(Bytes bytes, char first, char last) {
    return (bytes > each(first - 1)) & (bytes < each(last + 1));
}

// Bit i: the highest bit of byte i.
NEARDUP_INLINE std::uint64_t high_bits(Bytes bytes) {
#if defined(NEARDUP_USE_AVX2)
    return static_cast<std::uint32_t>(_mm256_movemask_epi8(reinterpret_cast<__m256i>(bytes)));
#elif defined(NEARDUP_USE_SSE2)
    return static_cast<std::uint32_t>(_mm_movemask_epi8(reinterpret_cast<__m128i>(bytes)));
#else
    std::uint64_t all;
    std::memcpy(&all, &bytes, sizeof all);
    return (all >> 7 & 0x0101010101010101ULL) * 0x0102040810204080ULL >> 56;
#endif
}

}  // namespace neardup::NEARDUP_ISA
