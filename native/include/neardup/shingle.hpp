// Unit values → feature hashes: a polynomial over each window of units, then one multiplication.
#pragma once

#include <cstddef>
#include <cstdint>

#include "isa.hpp"
#include "nd1.hpp"

namespace neardup::NEARDUP_ISA {

// The feature made of all `count` units at `values`.
NEARDUP_INLINE std::uint64_t whole_feature(const std::uint64_t* values, std::size_t count) {
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < count; ++i) total = total * kShingleBase + values[i];
    return feature_of(total);
}

// The features of every window of `size` units, of which there must be at least one.
NEARDUP_APART inline std::size_t window_features(const std::uint64_t* values, std::size_t count,
                                                 std::size_t size, std::uint64_t* out) {
    constexpr std::uint64_t p1 = kShingleBase, p2 = p1 * p1, p3 = p2 * p1;
    const std::size_t windows = count - size + 1;
    switch (size) {
        case 1:
            for (std::size_t i = 0; i < windows; ++i) out[i] = feature_of(values[i]);
            return windows;
        case 2:
            for (std::size_t i = 0; i < windows; ++i)
                out[i] = feature_of(values[i] * p1 + values[i + 1]);
            return windows;
        case 3:
            for (std::size_t i = 0; i < windows; ++i)
                out[i] = feature_of(values[i] * p2 + values[i + 1] * p1 + values[i + 2]);
            return windows;
        case 4:
            for (std::size_t i = 0; i < windows; ++i)
                out[i] = feature_of(values[i] * p3 + values[i + 1] * p2 + values[i + 2] * p1 +
                                    values[i + 3]);
            return windows;
        default: break;
    }
    std::uint64_t total = 0, leaving = 1;
    for (std::size_t i = 0; i < size; ++i) {
        total = total * kShingleBase + values[i];
        leaving *= kShingleBase;
    }
    out[0] = feature_of(total);
    for (std::size_t i = 1; i < windows; ++i) {
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
};

}  // namespace neardup::NEARDUP_ISA
