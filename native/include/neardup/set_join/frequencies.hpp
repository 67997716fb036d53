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

// A number of documents in a byte: itself up to 127, above that on a scale of eight steps to each
// power of two. Of a larger number it is never smaller.
std::uint8_t frequency_of(std::uint32_t documents);

// Answer how often each feature occurs in all that is asked, on that scale. A bucket has fewer than
// 2^32 features.
void answer_frequencies(const std::vector<AskedFeatures>& asked, std::size_t buckets, int width);

}  // namespace neardup
