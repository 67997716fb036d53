// The bands of a set: keys that similar sets are likely to share.
//
// One-permutation MinHash (Li, Owen and Zhang 2012): the features are dealt to bins, and the
// smallest hash of each bin is kept. An empty bin takes what the next one to the right has, with
// its distance mixed in (Shrivastava and Li 2014). A band is the hash of some neighbouring bins.
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
        fill_empty();
        const std::uint64_t* at = bins_.data();
        for (std::uint32_t band = 0; band < bands_; ++band) {
            std::uint64_t key = band;
            for (std::uint32_t i = 0; i < minima_; ++i, ++at) {
                key = (key ^ *at) * 0x9E3779B97F4A7C15ULL;
                key ^= key >> 29;
            }
            keys[band] = static_cast<std::uint32_t>(key * 0xBF58476D1CE4E5B9ULL >> 32);
        }
    }

  private:
    static constexpr std::uint64_t kEmpty = ~std::uint64_t{0};

    void fill_empty() {
        const std::size_t many = bins_.size();
        std::size_t last = 0;  // the first bin that is not empty
        while (last < many && bins_[last] == kEmpty) ++last;
        if (last == many) return;
        // From the right, so that the next one is always known; the last ones look around the end.
        std::uint64_t value = bins_[last];
        std::uint64_t away = last;
        for (std::size_t i = many; i-- > 0;) {
            if (bins_[i] != kEmpty) {
                value = bins_[i];
                away = 0;
            } else {
                ++away;
                bins_[i] = value + (away << 32);
            }
        }
    }

    std::uint32_t bands_, minima_;
    std::vector<std::uint64_t> bins_;
};

}  // namespace neardup
