// The nd1 hash: units (words or characters) to values, shingles of them to features.
// docs/reference/scheme.md is its specification; kernels/reference/text.py says the same in Python.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "neardup/bits.hpp"
#include "neardup/isa.hpp"
#include "neardup/text/eight.hpp"
#include "neardup/text/nd1_keys.hpp"

namespace neardup::NEARDUP_ISA {

// Bytes that must be readable behind the last unit, because units are loaded 16 bytes at a time.
inline constexpr std::size_t kReadAhead = 16;

struct BlockMask {
    std::uint64_t low, high;
};

// Masks that keep the first 0 … 16 bytes of a block.
struct BlockMasks {
    BlockMask of[17];
    constexpr BlockMasks() : of{} {
        for (unsigned n = 0; n <= 16; ++n) {
            of[n].low = n >= 8 ? ~0ULL : (1ULL << 8 * n) - 1;
            of[n].high = n >= 16 ? ~0ULL : n <= 8 ? 0 : (1ULL << 8 * (n - 8)) - 1;
        }
    }
};
inline constexpr BlockMasks kBlockMasks;

NEARDUP_INLINE std::uint64_t unit_value(const std::uint8_t* bytes, std::size_t length) {
    std::uint64_t value = 0;
    std::size_t left = length;
    while (left > 16) [[unlikely]] {
        value = fold_multiply(load64(bytes) ^ kLowKey ^ value, load64(bytes + 8) ^ kHighKey);
        bytes += 16;
        left -= 16;
    }
    const BlockMask mask = kBlockMasks.of[left];
    return fold_multiply((load64(bytes) & mask.low) ^ kLowKey ^ value,
                         (load64(bytes + 8) & mask.high) ^ kHighKey ^ length);
}

// The same for a unit of at most eight bytes.
NEARDUP_INLINE std::uint64_t short_unit_value(const std::uint8_t* bytes, std::size_t length) {
    return fold_multiply((load64(bytes) & kBlockMasks.of[length].low) ^ kLowKey, kHighKey ^ length);
}

NEARDUP_INLINE std::uint64_t feature_of(std::uint64_t total) {
    return fold_multiply(total ^ kFeatureKey, rotate_half(total) ^ kTurnedKey);
}

// What a feature contributes to the 64-bit limb at `place` (from 1) of a wide fingerprint.
NEARDUP_INLINE std::uint64_t widen(std::uint64_t feature, std::uint64_t place) {
    return fold_multiply(feature ^ place * kWidthStep, rotate_half(feature) ^ kWidthKey);
}

// The feature made of all `count` units at `values`.
NEARDUP_INLINE std::uint64_t whole_feature(const std::uint64_t* values, std::size_t count) {
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < count; ++i) total = total * kShingleBase + values[i];
    return feature_of(total);
}

// The features of every window of `size` units, of which there must be at least one.
NEARDUP_APART inline std::size_t window_features(const std::uint64_t* values, std::size_t count,
                                                 std::size_t size, std::uint64_t* out) {
    constexpr std::uint64_t p1 = kShingleBase, p2 = p1 * p1;
    const std::size_t windows = count - size + 1;
    std::size_t i = 0;
#if defined(NEARDUP_USE_AVX512)
    if (size <= 4) i = window_features_in_eights(values, windows, size, out);
#endif
    switch (size) {
        case 1:
            for (; i < windows; ++i) out[i] = feature_of(values[i]);
            return windows;
        case 2:
            for (; i < windows; ++i) out[i] = feature_of(values[i] * p1 + values[i + 1]);
            return windows;
        case 3:
            for (; i < windows; ++i)
                out[i] = feature_of(values[i] * p2 + values[i + 1] * p1 + values[i + 2]);
            return windows;
        case 4: {
            // Each pair of neighbours is the end of one window and the start of another.
            if (i == windows) return windows;
            std::uint64_t before = values[i] * p1 + values[i + 1];
            std::uint64_t here = values[i + 1] * p1 + values[i + 2];
            for (; i < windows; ++i) {
                const std::uint64_t next = values[i + 2] * p1 + values[i + 3];
                out[i] = feature_of(before * p2 + next);
                before = here;
                here = next;
            }
            return windows;
        }
        default: break;
    }
    std::uint64_t total = 0, leaving = 1;
    for (; i < size; ++i) {
        total = total * kShingleBase + values[i];
        leaving *= kShingleBase;
    }
    out[0] = feature_of(total);
    for (i = 1; i < windows; ++i) {
        total = total * kShingleBase + values[i + size - 1] - values[i - 1] * leaving;
        out[i] = feature_of(total);
    }
    return windows;
}

// Plain nd1, as the passes over a text call it; keyed.hpp has the other.
struct PlainHash {
    NEARDUP_INLINE std::uint64_t unit(const std::uint8_t* bytes, std::size_t length) const {
        return unit_value(bytes, length);
    }
    NEARDUP_INLINE std::uint64_t short_unit(const std::uint8_t* bytes, std::size_t length) const {
        return short_unit_value(bytes, length);
    }
    std::uint64_t whole(const std::uint64_t* values, std::size_t count) const {
        return whole_feature(values, count);
    }
    std::size_t windows(const std::uint64_t* values, std::size_t count, std::size_t size,
                        std::uint64_t* out) const {
        return window_features(values, count, size, out);
    }
    NEARDUP_INLINE std::uint64_t widened(std::uint64_t feature, std::uint64_t place) const {
        return widen(feature, place);
    }
    NEARDUP_INLINE void widen_all(const std::uint64_t* features, std::size_t count,
                                  std::uint64_t place, std::uint64_t* out) const {
        std::size_t i = 0;
#if defined(NEARDUP_USE_AVX512)
        for (; i + 8 <= count; i += 8)
            _mm512_storeu_si512(out + i, widen_eight(load_eight(features + i), place));
#endif
        for (; i < count; ++i) out[i] = widen(features[i], place);
    }
};

}  // namespace neardup::NEARDUP_ISA
