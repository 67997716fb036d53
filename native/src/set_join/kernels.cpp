// Compiled once per instruction set; see isa.hpp.
#include "neardup/set_join/kernels.hpp"

#include <algorithm>

#include "neardup/bits.hpp"

namespace neardup::NEARDUP_ISA {

#if defined(NEARDUP_USE_AVX512)

// In how many bits a bitmap differs from a row that is folded to its size, both powers of two.
static NEARDUP_INLINE std::uint32_t folded_distance(const std::uint64_t* bitmap, std::size_t words,
                                                    const std::uint64_t* row,
                                                    std::size_t row_words) {
    __m512i sums = _mm512_setzero_si512();
    for (std::size_t word = 0; word < words; word += 8) {
        __m512i folded = _mm512_setzero_si512();
        for (std::size_t at = word; at < row_words; at += std::max<std::size_t>(words, 8))
            folded = _mm512_xor_si512(folded, load_words(row, at, row_words));
        if (words <= 4)
            folded = _mm512_xor_si512(folded, _mm512_shuffle_i64x2(folded, folded, 0x4E));
        if (words <= 2)
            folded = _mm512_xor_si512(folded, _mm512_shuffle_i64x2(folded, folded, 0xB1));
        if (words == 1) folded = _mm512_xor_si512(folded, _mm512_permutex_epi64(folded, 0xB1));
        folded = _mm512_xor_si512(folded, load_words(bitmap, word, words));
        const auto own = static_cast<__mmask8>(words < 8 ? (1U << words) - 1 : 0xFF);
        sums = _mm512_add_epi64(sums, _mm512_maskz_popcnt_epi64(own, folded));
    }
    return static_cast<std::uint32_t>(_mm512_reduce_add_epi64(sums));
}

#else

static NEARDUP_INLINE std::uint32_t folded_distance(const std::uint64_t* bitmap, std::size_t words,
                                                    const std::uint64_t* row,
                                                    std::size_t row_words) {
    std::uint32_t sum = 0;
    for (std::size_t word = 0; word < words; ++word) {
        std::uint64_t folded = bitmap[word];
        for (std::size_t at = word; at < row_words; at += words) folded ^= row[at];
        sum += bit_count(folded);
    }
    return sum;
}

#endif

static void parity_distances(const std::uint64_t* bitmap, std::size_t words,
                             const std::uint64_t* rows, std::size_t row_words, std::size_t count,
                             std::uint32_t* distances) {
    for (std::size_t i = 0; i < count; ++i, rows += row_words)
        distances[i] = words == row_words ? distance_of(bitmap, rows, words)
                                          : folded_distance(bitmap, words, rows, row_words);
}

const SetKernels set_kernels = {parity_distances};

}  // namespace neardup::NEARDUP_ISA
