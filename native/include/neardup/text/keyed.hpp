// The keyed form of nd1, for texts from strangers: the same passes with a secret in every step.
// docs/reference/scheme.md is its specification; kernels/reference/keyed.py is the Python twin.
//
// Units are hashed by SipHash-1-3, and shingles are polynomials over a prime field. With nd1's own
// polynomial, modulo 2^64, some long shingles collide whatever the base and the units' values are.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "neardup/isa.hpp"
#include "neardup/text/nd1.hpp"
#include "neardup/text/recipe.hpp"

namespace neardup::NEARDUP_ISA {

// The largest prime below 2^64.
inline constexpr std::uint64_t kPrimeGap = 59;
inline constexpr std::uint64_t kPrime = 0 - kPrimeGap;

using Wide = unsigned __int128;

// A sum of numbers below 2^64 and of 59 times numbers below 2^66, modulo the prime.
NEARDUP_INLINE std::uint64_t reduced_small(Wide x) {
    const auto low = static_cast<std::uint64_t>(x);
    const std::uint64_t sum = low + static_cast<std::uint64_t>(x >> 64) * kPrimeGap;
    // 2^64 too much, or the prime: either way the gap makes it right, and never twice.
    const std::uint64_t wrapped = sum + kPrimeGap;
    return ((sum < low) | (wrapped < kPrimeGap)) ? wrapped : sum;
}

NEARDUP_INLINE std::uint64_t low_half(Wide x) { return static_cast<std::uint64_t>(x); }
NEARDUP_INLINE std::uint64_t high_half(Wide x) { return static_cast<std::uint64_t>(x >> 64); }

NEARDUP_INLINE std::uint64_t reduced(Wide x) {
    return reduced_small(static_cast<Wide>(high_half(x)) * kPrimeGap + low_half(x));
}

// The sum of two or three products modulo the prime.
NEARDUP_INLINE std::uint64_t reduced_sum(Wide x, Wide y, Wide z = 0) {
    const Wide high = static_cast<Wide>(high_half(x)) + high_half(y) + high_half(z);
    return reduced_small(high * kPrimeGap + low_half(x) + low_half(y) + low_half(z));
}

class KeyedHash {
  public:
    explicit KeyedHash(const HashKey& key)
        : key_(key),
          start_{key.unit[0] ^ 0x736F6D6570736575, key.unit[1] ^ 0x646F72616E646F6D,
                 key.unit[0] ^ 0x6C7967656E657261, key.unit[1] ^ 0x7465646279746573},
          base2_(reduced(product(key.shingle_base, key.shingle_base))),
          base3_(reduced(product(base2_, key.shingle_base))) {}

    // SipHash-1-3 of a unit's bytes.
    NEARDUP_INLINE std::uint64_t unit(const std::uint8_t* bytes, std::size_t length) const {
        State state = start_;
        std::size_t left = length;
        for (; left >= 8; left -= 8, bytes += 8) take(state, load64(bytes));
        return finish(state, bytes, left, length);
    }

    // The same for a unit of at most seven bytes.
    NEARDUP_INLINE std::uint64_t short_unit(const std::uint8_t* bytes, std::size_t length) const {
        return finish(start_, bytes, length, length);
    }

    // The feature made of all `count` units at `values`.
    std::uint64_t whole(const std::uint64_t* values, std::size_t count) const {
        std::uint64_t total = 0;
        for (std::size_t i = 0; i < count; ++i) total = step(total, values[i]);
        return feature(total);
    }

    // The features of every window of `size` units, of which there must be at least one.
    NEARDUP_APART std::size_t windows(const std::uint64_t* values, std::size_t count,
                                      std::size_t size, std::uint64_t* out) const {
        const std::size_t made = count - size + 1;
        const std::uint64_t base = key_.shingle_base;
        switch (size) {
            case 1:
                for (std::size_t i = 0; i < made; ++i) out[i] = feature(step(0, values[i]));
                return made;
            case 2:
                for (std::size_t i = 0; i < made; ++i)
                    out[i] = feature(step(values[i], values[i + 1]));
                return made;
            case 3:
                for (std::size_t i = 0; i < made; ++i)
                    out[i] = feature(reduced_sum(product(values[i], base2_),
                                                 product(values[i + 1], base) + values[i + 2]));
                return made;
            case 4:
                for (std::size_t i = 0; i < made; ++i)
                    out[i] = feature(reduced_sum(product(values[i], base3_),
                                                 product(values[i + 1], base2_),
                                                 product(values[i + 2], base) + values[i + 3]));
                return made;
            default: break;
        }
        std::uint64_t total = 0, leaving = 1;
        for (std::size_t i = 0; i < size; ++i) {
            total = step(total, values[i]);
            leaving = reduced(product(leaving, base));
        }
        const std::uint64_t taken_out = kPrime - leaving;  // the base has an inverse, so not 0
        out[0] = feature(total);
        for (std::size_t i = 1; i < made; ++i) {
            total = reduced_sum(product(total, base) + values[i + size - 1],
                                product(values[i - 1], taken_out));
            out[i] = feature(total);
        }
        return made;
    }

    NEARDUP_INLINE std::uint64_t widened(std::uint64_t feature, std::uint64_t place) const {
        return fold_multiply(feature ^ place * key_.width_step,
                             rotate_half(feature) ^ key_.width_key);
    }
    void widen_all(const std::uint64_t* features, std::size_t count, std::uint64_t place,
                   std::uint64_t* out) const {
        for (std::size_t i = 0; i < count; ++i) out[i] = widened(features[i], place);
    }

  private:
    struct State {
        std::uint64_t v0, v1, v2, v3;
    };

    static NEARDUP_INLINE Wide product(std::uint64_t a, std::uint64_t b) {
        return static_cast<Wide>(a) * b;
    }

    static NEARDUP_INLINE void round(State& s) {
        s.v0 += s.v1;
        s.v2 += s.v3;
        s.v1 = std::rotl(s.v1, 13) ^ s.v0;
        s.v3 = std::rotl(s.v3, 16) ^ s.v2;
        s.v0 = std::rotl(s.v0, 32) + s.v3;
        s.v2 += s.v1;
        s.v1 = std::rotl(s.v1, 17) ^ s.v2;
        s.v3 = std::rotl(s.v3, 21) ^ s.v0;
        s.v2 = std::rotl(s.v2, 32);
    }

    static NEARDUP_INLINE void take(State& state, std::uint64_t block) {
        state.v3 ^= block;
        round(state);
        state.v0 ^= block;
    }

    // The last block holds what is left and the length.
    static NEARDUP_INLINE std::uint64_t finish(State state, const std::uint8_t* bytes,
                                               std::size_t left, std::size_t length) {
        take(state, (load64(bytes) & kBlockMasks.of[left].low) | std::uint64_t{length} << 56);
        state.v2 ^= 0xFF;
        round(state);
        round(state);
        round(state);
        return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
    }

    NEARDUP_INLINE std::uint64_t step(std::uint64_t total, std::uint64_t value) const {
        return reduced(product(total, key_.shingle_base) + value);
    }

    NEARDUP_INLINE std::uint64_t feature(std::uint64_t total) const {
        return fold_multiply(total ^ key_.feature_key, rotate_half(total) ^ key_.turned_key);
    }

    HashKey key_;
    State start_;
    std::uint64_t base2_, base3_;
};

}  // namespace neardup::NEARDUP_ISA
