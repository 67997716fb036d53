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

// Where a table has the sets that one of their rarest features leads to: one key for those in
// `first`, and another one for those in `further`.
inline std::uint32_t key_of_rarest(std::uint32_t feature, bool further) {
    return static_cast<std::uint32_t>(mixed_feature(further ? ~feature : feature));
}

// Chooses prefixes; reuses its memory.
//
// Of two similar sets, the lighter one shares the more of its mass, so that it needs fewer
// features: the rarest feature that both have is in `first` of the lighter one, and in `first` or
// `further` of the other. A family of documents that share a text, but are not similar, then meets
// in `further` of both at most, which nobody looks up.
class RarestFeatures {
  public:
    std::vector<std::uint32_t> first, further;

    // Of a set without weights.
    void choose(const std::uint32_t* features, std::size_t count, const RarityTable& table,
                const Limits& limits) {
        std::array<std::uint32_t, 256> of_rank{};
        ranks_.resize(count);
        for (std::size_t i = 0; i < count; ++i) ++of_rank[ranks_[i] = table.rank(features[i])];
        Cut few(count, limits.index(static_cast<double>(count)), of_rank);
        Cut all(count, limits.probe(static_cast<double>(count)), of_rank);
        first.clear();
        further.clear();
        for (std::size_t i = 0; i < count; ++i) {
            const bool is_few = few.takes(ranks_[i]), is_any = all.takes(ranks_[i]);
            if (is_few)
                first.push_back(features[i]);
            else if (is_any)
                further.push_back(features[i]);
        }
    }

    // Of a set with weights, by the mass of each feature.
    void choose(const DocumentView& set, const RarityTable& table, const Limits& limits) {
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
        double light = 0;
        std::size_t any = set.size;
        for (; any != 0; --any) {
            const double more = limits.mass(set.weights[order_[any - 1]]);
            if (light + more >= limits.probe(mass)) break;
            light += more;
        }
        std::size_t few = any;
        for (; few != 0; --few) {
            const double more = limits.mass(set.weights[order_[few - 1]]);
            if (light + more >= limits.index(mass)) break;
            light += more;
        }
        first.clear();
        further.clear();
        for (std::size_t i = 0; i < any; ++i)
            (i < few ? first : further).push_back(short_feature(set.hashes[order_[i]]));
    }

  private:
    // Up to which rank features are taken, and how many of that rank: so many that those left out
    // are fewer than `least`.
    struct Cut {
        std::size_t rank = 0, left;

        Cut(std::size_t count, double least, const std::array<std::uint32_t, 256>& of_rank) {
            const auto light = static_cast<std::size_t>(std::max(std::ceil(least) - 1, 0.0));
            left = count - std::min(light, count);
            for (; rank < 255 && left > of_rank[rank]; ++rank) left -= of_rank[rank];
        }
        bool takes(std::size_t other) {
            if (other != rank) return other < rank;
            if (left == 0) return false;
            --left;
            return true;
        }
    };

    std::vector<std::uint8_t> ranks_;
    std::vector<std::uint32_t> order_;
};

}  // namespace neardup
