// Compiled once per instruction set; see isa.hpp.
#include "neardup/set_join/kernels.hpp"

#include "neardup/bits.hpp"

namespace neardup::NEARDUP_ISA {

static void parity_distances(const std::uint64_t* bitmap, std::size_t words,
                             const std::uint64_t* rows, std::size_t row_words, std::size_t count,
                             std::uint32_t* distances) {
    for (std::size_t i = 0; i < count; ++i, rows += row_words) {
        if (words == row_words) {
            distances[i] = distance_of(bitmap, rows, words);
            continue;
        }
        std::uint32_t sum = 0;
        for (std::size_t word = 0; word < words; ++word) {
            std::uint64_t folded = bitmap[word];
            for (std::size_t at = word; at < row_words; at += words) folded ^= rows[at];
            sum += bit_count(folded);
        }
        distances[i] = sum;
    }
}

const SetKernels set_kernels = {parity_distances};

}  // namespace neardup::NEARDUP_ISA
