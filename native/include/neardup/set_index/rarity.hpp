// The rarest features of a set: so many that similar sets have one of them in common.
//
// Any order of features would do, as long as it is the same for all sets of a segment; where rare
// ones come first, few sets share them. How rare a feature is, is known from a small table that
// several features share a place of.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "neardup/set_index/plan.hpp"
#include "neardup/set_join/pair.hpp"

namespace neardup {

// Ranks of features by how common they are, in a table of 2^log places.
struct RarityTable {
    const std::uint8_t* ranks;
    unsigned log;

    static std::size_t place(std::uint32_t feature, unsigned log) {
        return static_cast<std::size_t>(mixed_feature(feature) >> (64 - log));
    }
    std::uint8_t rank(std::uint32_t feature) const { return ranks[place(feature, log)]; }
};

// The rank of a place in which so many features were counted: about eight steps for each doubling.
inline std::uint8_t rank_of_count(std::uint32_t count) {
    if (count < 8) return static_cast<std::uint8_t>(count);
    const auto log = static_cast<unsigned>(std::bit_width(count)) - 1;
    return static_cast<std::uint8_t>(8 * (log - 2) + (count >> (log - 3) & 7));
}

// Chooses prefixes; reuses its memory.
class RarestFeatures {
  public:
    // Those of a set without weights.
    const std::vector<std::uint32_t>& choose(const std::uint32_t* features, std::size_t count,
                                             const RarityTable& table, const Limits& limits) {
        const double least = limits.probe(static_cast<double>(count));
        const auto light = static_cast<std::size_t>(std::max(std::ceil(least) - 1, 0.0));
        std::size_t left = count - std::min(light, count);
        std::array<std::uint32_t, 256> of_rank{};
        ranks_.resize(count);
        for (std::size_t i = 0; i < count; ++i) ++of_rank[ranks_[i] = table.rank(features[i])];
        std::size_t cut = 0;
        for (; cut < 255 && left > of_rank[cut]; ++cut) left -= of_rank[cut];
        chosen_.clear();
        for (std::size_t i = 0; i < count; ++i) {
            if (ranks_[i] > cut || (ranks_[i] == cut && left == 0)) continue;
            if (ranks_[i] == cut) --left;
            chosen_.push_back(features[i]);
        }
        return chosen_;
    }

    // Those of a set with weights, by the mass of each feature.
    const std::vector<std::uint32_t>& choose(const DocumentView& set, const RarityTable& table,
                                             const Limits& limits) {
        ranks_.resize(set.size);
        order_.resize(set.size);
        std::iota(order_.begin(), order_.end(), 0U);
        double mass = 0;
        for (std::size_t i = 0; i < set.size; ++i) {
            ranks_[i] = table.rank(short_feature(set.hashes[i]));
            mass += limits.mass(set.weights[i]);
        }
        std::stable_sort(order_.begin(), order_.end(),
                         [&](std::uint32_t x, std::uint32_t y) { return ranks_[x] < ranks_[y]; });
        // What is left out is summed from its light end: what is left of the mass of all would be
        // wrong by a part of that mass, which may be more than the limits allow for.
        const double least = limits.probe(mass);
        std::size_t kept = set.size;
        for (double light = 0; kept != 0; --kept) {
            light += limits.mass(set.weights[order_[kept - 1]]);
            if (light >= least) break;
        }
        chosen_.clear();
        for (std::size_t i = 0; i < kept; ++i)
            chosen_.push_back(short_feature(set.hashes[order_[i]]));
        return chosen_;
    }

  private:
    std::vector<std::uint8_t> ranks_;
    std::vector<std::uint32_t> order_, chosen_;
};

}  // namespace neardup
