// Weighted features → fingerprints: signed sums per bit, in fixed point.
//
// Integer sums do not depend on the order of the features or on the number of threads, and a
// document gets the same bits in whatever batch it comes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "buffer.hpp"
#include "isa.hpp"
#include "recipe.hpp"

namespace neardup::NEARDUP_ISA {

// For each byte, eight masks: all ones where the bit is set, most significant first.
struct ByteMasks {
    std::int64_t of[256][8];
    constexpr ByteMasks() : of{} {
        for (int byte = 0; byte < 256; ++byte)
            for (int bit = 0; bit < 8; ++bit) of[byte][bit] = (byte >> (7 - bit) & 1) ? -1 : 0;
    }
};
inline constexpr ByteMasks kByteMasks;

class WeightedSums {
  public:
    explicit WeightedSums(const TermRecipe& recipe)
        : recipe_(recipe), sums_(room_.reserve(64 * recipe.row_words())) {}

    // The fingerprint of one document, and, where wanted, the sums behind it.
    void run(const TermColumn& column, std::size_t document, std::uint64_t* out, std::int64_t* sums) {
        const std::size_t row_words = recipe_.row_words();
        std::memset(sums_, 0, 64 * row_words * sizeof *sums_);
        std::int64_t total = 0;
        const auto end = static_cast<std::size_t>(column.offsets[document + 1]);
        for (auto i = static_cast<std::size_t>(column.offsets[document]); i < end; ++i) {
            const std::int64_t weight = column.weights[i];
            total += weight;
            const std::uint64_t* digest =
                column.digests + static_cast<std::size_t>(column.terms[i]) * row_words;
            for (std::size_t place = 0; place < row_words; ++place)
                add(digest[place], weight, sums_ + 64 * place);
        }
        // What was summed is the weight of the set bits; the clear ones count against it.
        for (std::size_t bit = 0; bit < 64 * row_words; ++bit) sums_[bit] = 2 * sums_[bit] - total;
        if (sums != nullptr) std::memcpy(sums, sums_, recipe_.bits * sizeof *sums);
        std::memset(out, 0, row_words * sizeof *out);
        for (std::size_t bit = 0; bit < recipe_.bits; ++bit) {
            const bool set = sums_[bit] > 0 || (recipe_.ties_up && sums_[bit] == 0);
            out[bit / 64] |= static_cast<std::uint64_t>(set) << (63 - bit % 64);
        }
    }

  private:
    static NEARDUP_INLINE void add(std::uint64_t digest, std::int64_t weight, std::int64_t* sums) {
        for (int byte = 0; byte < 8; ++byte) {
            const std::int64_t* mask = kByteMasks.of[digest >> (56 - 8 * byte) & 255];
            for (int bit = 0; bit < 8; ++bit) sums[8 * byte + bit] += mask[bit] & weight;
        }
    }

    TermRecipe recipe_;
    Buffer<std::int64_t> room_;
    std::int64_t* sums_;
};

}  // namespace neardup::NEARDUP_ISA
