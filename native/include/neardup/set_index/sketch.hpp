// The bands of a set: keys that similar sets are likely to share.
//
// One-permutation MinHash (Li, Owen and Zhang 2012): the features are dealt to bins, and the
// smallest hash of each bin is kept. An empty bin takes the smallest of all features by a hash of
// its own, as MinHash does (Broder 1997). To take what another bin has (Shrivastava and Li 2014 and
// 2017) costs less, but the bins of a small set then agree or differ together: of pairs of one to
// three features, up to 4 % were missed. A band is the hash of some neighbouring bins.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "neardup/set_index/plan.hpp"

namespace neardup {

class BandSketcher {
  public:
    BandSketcher(std::uint32_t bands, std::uint32_t minima)
        : bands_(bands), minima_(minima), bins_(std::size_t{bands} * minima) {}

    // Write a key for each band; a set without features has none.
    void run(const std::uint32_t* features, std::size_t count, std::uint32_t* keys) {
        if (bins_.empty()) return;
        std::fill(bins_.begin(), bins_.end(), kEmpty);
        const std::uint64_t many = bins_.size();
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint64_t mixed = mixed_feature(features[i]);
            std::uint64_t& bin = bins_[(mixed >> 32) * many >> 32];
            bin = std::min(bin, mixed & 0xFFFFFFFF);
        }
        fill_empty(features, count);
        const std::uint64_t* at = bins_.data();
        for (std::uint32_t band = 0; band < bands_; ++band) {
            std::uint64_t key = band;
            for (std::uint32_t i = 0; i < minima_; ++i, ++at) {
                key = (key ^ *at) * kSpread;
                key ^= key >> 29;
            }
            keys[band] = static_cast<std::uint32_t>(key * 0xBF58476D1CE4E5B9ULL >> 32);
        }
    }

  private:
    static constexpr std::uint64_t kEmpty = ~std::uint64_t{0}, kTaken = std::uint64_t{1} << 32;
    static constexpr std::uint64_t kSpread = 0x9E3779B97F4A7C15ULL;

    // Few bins of a set of many features are empty, and a set of few features is soon looked at.
    void fill_empty(const std::uint32_t* features, std::size_t count) {
        if (count == 0 || std::find(bins_.begin(), bins_.end(), kEmpty) == bins_.end()) return;
        mixed_.resize(count);
        std::transform(features, features + count, mixed_.begin(), mixed_feature);
        for (std::size_t i = 0; i < bins_.size(); ++i) {
            if (bins_[i] != kEmpty) continue;
            const std::uint64_t salt = mixed_feature(static_cast<std::uint32_t>(i));
            std::uint64_t least = kEmpty;
            for (const std::uint64_t mixed : mixed_)
                least = std::min(least, (salt ^ mixed) * kSpread);
            bins_[i] = least >> 32 | kTaken;
        }
    }

    std::uint32_t bands_, minima_;
    std::vector<std::uint64_t> bins_, mixed_;
};

}  // namespace neardup
