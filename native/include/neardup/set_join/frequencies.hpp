// In how many documents features are, asked by several tasks about the features of theirs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace neardup {

// Features in the order of their buckets (see buckets.hpp), `width` bytes each: sizes[i] are in
// bucket i. The frequency of each goes to `answers`.
struct AskedFeatures {
    const std::uint32_t* sizes;
    const std::uint8_t* values;
    std::uint8_t* answers;
};

// Answer how often each feature occurs in all that is asked; 255 stands for more. A bucket has
// fewer than 2^32 features.
void answer_frequencies(const std::vector<AskedFeatures>& asked, std::size_t buckets, int width);

}  // namespace neardup
