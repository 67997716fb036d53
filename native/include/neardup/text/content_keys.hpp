// Feature sets → 128-bit keys that are equal for equal sets.
#pragma once

#include <cstddef>
#include <cstdint>

namespace neardup {

// The features of documents: those of document i lie at offsets[i] … offsets[i + 1], distinct and
// ascending. `weights` is null if each weighs 1.
struct WeightedSets {
    const std::int64_t* offsets;
    std::size_t count;
    const std::uint64_t* hashes;
    const double* weights;
};

// Write two words for each document. Different sets have different keys up to collisions.
void content_keys(const WeightedSets& sets, std::uint64_t* keys);

}  // namespace neardup
