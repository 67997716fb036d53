// The nd1 hash: units (words or characters) to values, shingles of them to features.
// docs/reference/scheme.md is its specification; kernels/reference.py says the same in Python.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "isa.hpp"

namespace neardup::NEARDUP_ISA {

// Fractional digits of pi, and the golden ratio: numbers nobody chose for their effect.
inline constexpr std::uint64_t kLowKey = 0x243F6A8885A308D3;
inline constexpr std::uint64_t kHighKey = 0x452821E638D01377;
inline constexpr std::uint64_t kShingleBase = 0x9E3779B97F4A7C15;
inline constexpr std::uint64_t kFeatureKey = 0x13198A2E03707344;
inline constexpr std::uint64_t kTurnedKey = 0xC0AC29B7C97C50DD;
inline constexpr std::uint64_t kWidthStep = 0xA4093822299F31D1;
inline constexpr std::uint64_t kWidthKey = 0x3F84D5B5B5470917;

// Bytes that must be readable behind the last unit, because units are loaded 16 bytes at a time.
inline constexpr std::size_t kReadAhead = 16;

NEARDUP_INLINE std::uint64_t load64(const std::uint8_t* from) {
    std::uint64_t value;
    std::memcpy(&value, from, 8);
    return value;
}

NEARDUP_INLINE std::uint64_t fold_multiply(std::uint64_t a, std::uint64_t b) {
    const auto product = static_cast<unsigned __int128>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

NEARDUP_INLINE std::uint64_t rotate_half(std::uint64_t x) { return x << 32 | x >> 32; }

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

// What a feature contributes to the 64-bit word at `place` (from 1) of a wide fingerprint.
NEARDUP_INLINE std::uint64_t widen(std::uint64_t feature, std::uint64_t place) {
    return fold_multiply(feature ^ place * kWidthStep, rotate_half(feature) ^ kWidthKey);
}

}  // namespace neardup::NEARDUP_ISA
