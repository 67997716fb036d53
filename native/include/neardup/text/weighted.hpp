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

#include "neardup/buffer.hpp"
#include "neardup/isa.hpp"
#include "neardup/text/majority.hpp"
#include "neardup/text/nd1.hpp"
#include "neardup/text/recipe.hpp"

namespace neardup::NEARDUP_ISA {

// For each byte, eight masks: all ones where the bit is set, most significant first.
struct ByteMasks {
    alignas(64) std::int64_t of[256][8];
    constexpr ByteMasks() : of{} {
        for (int byte = 0; byte < 256; ++byte)
            for (int bit = 0; bit < 8; ++bit) of[byte][bit] = (byte >> (7 - bit) & 1) != 0 ? -1 : 0;
    }
};
inline constexpr ByteMasks kByteMasks;

template <typename Hash>
class WeightedSums {
  public:
    WeightedSums(const TermRecipe& recipe, const Hash& hash)
        : recipe_(recipe), hash_(hash), sums_(room_.reserve(64 * recipe.row_limbs())) {}

    // Write the fingerprint of one document of terms and, where they are wanted, the sums behind
    // it.
    void run(const TermColumn& column, std::size_t document, std::uint64_t* out, double* sums) {
        const auto begin = static_cast<std::size_t>(column.offsets[document]);
        const auto end = static_cast<std::size_t>(column.offsets[document + 1]);
        const std::size_t row_limbs = recipe_.row_limbs();
        const std::int32_t* terms = column.terms + begin;
        run(column.weights + begin, end - begin, out, sums, [&](std::size_t i, std::size_t place) {
            return column.digests[static_cast<std::size_t>(terms[i]) * row_limbs + place];
        });
    }

    // The same for a document of features, whose hashes are widened as its scheme does it. Without
    // weights, each counts once, and there are no sums.
    void run(const FeatureColumn& column, std::size_t document, std::uint64_t* out, double* sums) {
        const auto begin = static_cast<std::size_t>(column.offsets[document]);
        const auto end = static_cast<std::size_t>(column.offsets[document + 1]);
        const std::uint64_t* hashes = column.hashes + begin;
        if (column.weights == nullptr) return run_set(hashes, end - begin, out);
        run(column.weights + begin, end - begin, out, sums, [&](std::size_t i, std::size_t place) {
            return place == 0 ? hashes[i] : hash_.widened(hashes[i], place);
        });
    }

  private:
    static constexpr int kLargestShift = 1000;

    void run_set(const std::uint64_t* hashes, std::size_t count, std::uint64_t* out) {
        const std::size_t row_limbs = recipe_.row_limbs();
        std::memset(out, 0, row_limbs * sizeof *out);
        if (count == 0) return;
        // The sum is positive where more than half of the hashes have the bit.
        const std::size_t least = recipe_.ties_up ? (count + 1) / 2 : count / 2 + 1;
        for (std::size_t place = 0; place < row_limbs; ++place) {
            const std::uint64_t* digests = hashes;
            if (place != 0) {
                std::uint64_t* widened = digests_.reserve(count);
                for (std::size_t i = 0; i < count; ++i)
                    widened[i] = hash_.widened(hashes[i], place);
                digests = widened;
            }
            counter_.restart();
            counter_.add(digests, count);
            out[place] = counter_.at_least(least);
        }
        if (recipe_.bits % 64 != 0) out[row_limbs - 1] &= ~0ULL << (64 - recipe_.bits % 64);
    }

    template <typename Digest>
    void run(const double* weights, std::size_t count, std::uint64_t* out, double* sums,
             const Digest& digest_of) {
        const std::size_t row_limbs = recipe_.row_limbs();
        const double scale = std::ldexp(1.0, fixed_point_shift(weights, count));
        std::int64_t* fixed = fixed_.reserve(count);
        std::int64_t total = 0;
        for (std::size_t i = 0; i < count; ++i) {
            fixed[i] = std::llrint(weights[i] * scale);
            total += fixed[i];
        }
        std::uint64_t* digests = digests_.reserve(count);
        for (std::size_t place = 0; place < row_limbs; ++place) {
            for (std::size_t i = 0; i < count; ++i) digests[i] = digest_of(i, place);
            sum_set_bits(digests, fixed, count, sums_ + 64 * place);
        }
        std::memset(out, 0, row_limbs * sizeof *out);
        for (std::size_t bit = 0; bit < recipe_.bits; ++bit) {
            // What was summed is the weight of the set bits; the clear ones count against it.
            const std::int64_t sum = 2 * sums_[bit] - total;
            const bool set = sum > 0 || (recipe_.ties_up && sum == 0);
            out[bit / 64] |= static_cast<std::uint64_t>(set && count != 0) << (63 - bit % 64);
            if (sums != nullptr) sums[bit] = static_cast<double>(sum) / scale;
        }
    }

    // The power of two by which weights are multiplied: as large as the sums allow.
    static int fixed_point_shift(const double* weights, std::size_t count) {
        double largest = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const double weight = std::fabs(weights[i]);
            largest = weight > largest ? weight : largest;
        }
        int exponent = 0;
        std::frexp(largest, &exponent);
        const int shift = 61 - exponent - static_cast<int>(std::bit_width(count));
        return shift < kLargestShift ? shift : kLargestShift;
    }

    // As wide as one register: wider vectors are taken apart into scalars by compilers.
#if defined(NEARDUP_USE_AVX2)
    static constexpr int kLanes = 4;
#else
    static constexpr int kLanes = 2;
#endif
    using Lanes = std::int64_t __attribute__((vector_size(8 * kLanes)));
    static constexpr int kByteLanes = 8 / kLanes;

    static NEARDUP_INLINE void add(std::uint64_t byte, std::int64_t weight, Lanes* sums) {
        const Lanes weights = Lanes{} + weight;
        for (int i = 0; i < kByteLanes; ++i) {
            Lanes mask;
            std::memcpy(&mask, kByteMasks.of[byte] + kLanes * i, sizeof mask);
            sums[i] += mask & weights;
        }
    }

    // Add up, for each bit of the digests, the weights of those that have it. Two bytes of every
    // digest at a time, so that the sixteen sums stay in registers.
    static NEARDUP_APART void sum_set_bits(const std::uint64_t* digests,
                                           const std::int64_t* weights, std::size_t count,
                                           std::int64_t* sums) {
        for (int shift = 48; shift >= 0; shift -= 16, sums += 16) {
            Lanes high[kByteLanes] = {}, low[kByteLanes] = {};
            for (std::size_t i = 0; i < count; ++i) {
                add(digests[i] >> (shift + 8) & 255, weights[i], high);
                add(digests[i] >> shift & 255, weights[i], low);
            }
            std::memcpy(sums, high, sizeof high);
            std::memcpy(sums + 8, low, sizeof low);
        }
    }

    TermRecipe recipe_;
    Hash hash_;
    Buffer<std::int64_t> room_, fixed_;
    Buffer<std::uint64_t> digests_;
    BitCounter counter_;
    std::int64_t* sums_;
};

}  // namespace neardup::NEARDUP_ISA
