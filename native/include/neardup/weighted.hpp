// Weighted terms → fingerprints: signed sums per bit, in fixed point.
//
// Integer sums depend neither on the order of the terms nor on the number of threads. The scale is
// a power of two chosen for each document, so that a document gets the same bits in any batch.
#pragma once

#include <bit>
#include <cmath>
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
            for (int bit = 0; bit < 8; ++bit) of[byte][bit] = (byte >> (7 - bit) & 1) != 0 ? -1 : 0;
    }
};
inline constexpr ByteMasks kByteMasks;

class WeightedSums {
  public:
    explicit WeightedSums(const TermRecipe& recipe)
        : recipe_(recipe), sums_(room_.reserve(64 * recipe.row_words())) {}

    // Write the fingerprint of one document and, where they are wanted, the sums behind it.
    void run(const TermColumn& column, std::size_t document, std::uint64_t* out, double* sums) {
        const auto begin = static_cast<std::size_t>(column.offsets[document]);
        const auto end = static_cast<std::size_t>(column.offsets[document + 1]);
        const std::size_t row_words = recipe_.row_words();
        const int shift = fixed_point_shift(column.weights + begin, end - begin);
        const double scale = std::ldexp(1.0, shift);
        std::memset(sums_, 0, 64 * row_words * sizeof *sums_);
        std::int64_t total = 0;
        for (std::size_t i = begin; i < end; ++i) {
            const std::int64_t weight = std::llrint(column.weights[i] * scale);
            total += weight;
            const std::uint64_t* digest =
                column.digests + static_cast<std::size_t>(column.terms[i]) * row_words;
            for (std::size_t place = 0; place < row_words; ++place)
                add(digest[place], weight, sums_ + 64 * place);
        }
        std::memset(out, 0, row_words * sizeof *out);
        for (std::size_t bit = 0; bit < recipe_.bits; ++bit) {
            // What was summed is the weight of the set bits; the clear ones count against it.
            const std::int64_t sum = 2 * sums_[bit] - total;
            const bool set = sum > 0 || (recipe_.ties_up && sum == 0);
            out[bit / 64] |= static_cast<std::uint64_t>(set && begin != end) << (63 - bit % 64);
            if (sums != nullptr) sums[bit] = static_cast<double>(sum) / scale;
        }
    }

  private:
    static constexpr int kLargestShift = 1000;

    // The power of two by which weights are multiplied: as large as the sums allow.
    static int fixed_point_shift(const double* weights, std::size_t count) {
        double largest = 0;
        for (std::size_t i = 0; i < count; ++i) largest = std::fmax(largest, std::fabs(weights[i]));
        int exponent = 0;
        std::frexp(largest, &exponent);
        const int shift = 61 - exponent - static_cast<int>(std::bit_width(count));
        return shift < kLargestShift ? shift : kLargestShift;
    }

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
