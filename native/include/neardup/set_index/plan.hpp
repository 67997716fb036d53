// How sets of features are indexed: the measure, the threshold, and the keys they are found by.
#pragma once

#include <cstddef>
#include <cstdint>

#include "neardup/set_join/join.hpp"
#include "neardup/set_join/limits.hpp"

namespace neardup {

// Sets are found by `bands` keys, each of the smallest hashes of `minima` parts of the set, and
// those in crowded bands by their rarest features. Without bands, all are found by their rarest
// features, and none is missed. Only sets without weights have bands.
struct SetPlan {
    Measure measure;
    bool weighted;
    double threshold;
    std::uint32_t bands, minima;

    Limits limits(double least) const { return Limits(measure, weighted, least); }

    // Whether documents made for one plan can be looked up where those of the other are.
    bool fits(const SetPlan& other) const {
        return measure == other.measure && weighted == other.weighted && bands == other.bands &&
               minima == other.minima;
    }
};

inline constexpr std::size_t kMostBands = 1024, kMostMinima = 16;

// The part of a 64-bit feature that sets without weights are stored with: its leading half, so that
// the order stays. Two different features of two sets of 300 are mistaken for one in a pair of
// 50,000 if the sets have nothing in common, and in one of four million if they share 80 %.
inline std::uint32_t short_feature(std::uint64_t hash) {
    return static_cast<std::uint32_t>(hash >> 32);
}

// Mixes a short feature, for tables that choose by other bits than its leading ones.
inline std::uint64_t mixed_feature(std::uint32_t feature) {
    std::uint64_t mixed = (feature + std::uint64_t{0x9E3779B97F4A7C15}) * 0xD6E8FEB86659FD93ULL;
    mixed = (mixed ^ mixed >> 32) * 0xD6E8FEB86659FD93ULL;
    return mixed ^ mixed >> 32;
}

}  // namespace neardup
