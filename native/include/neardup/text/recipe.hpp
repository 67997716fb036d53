// The inputs, settings and outputs of the kernels: plain structs, the same for every instruction
// set.
#pragma once

#include <cstddef>
#include <cstdint>

namespace neardup {

// The secret of a keyed hash: one value for each step, derived from a key
// (docs/reference/scheme.md).
struct HashKey {
    std::uint64_t unit[2];
    std::uint64_t shingle_base;  // below the prime, and neither 0 nor 1
    std::uint64_t feature_key, turned_key, width_step, width_key;
};

// Shingles of `size` units, which are words or code points of the folded text.
struct Shingle {
    bool words;
    std::size_t size;
};

// Several kinds of shingles; their features form one set.
struct ShingleList {
    const Shingle* of;
    std::size_t count;
    const HashKey* key = nullptr;  // null: plain nd1
};

struct Recipe {
    Shingle shingle;
    bool distinct;                 // each feature once, else as often as it occurs
    std::uint32_t bits;            // width of the fingerprint
    bool ties_up;                  // a sum of zero makes a 1
    const HashKey* key = nullptr;  // null: plain nd1

    // A fingerprint is stored as limbs of 64 bits. (A word is always a word of text.)
    std::size_t row_limbs() const { return (bits + 63) / 64; }
};

// A column of UTF-8 strings as Arrow keeps it: string i is data[offsets[i] … offsets[i + 1]).
struct Column {
    const std::uint8_t* data;
    const std::int64_t* offsets;
    std::size_t count;
};

// Where the results of document i go: row i of `bits`, item i of `words`.
struct Rows {
    std::uint64_t* bits;
    std::uint32_t* words;
};

// The same for documents that come as weighted terms.
struct TermRecipe {
    std::uint32_t bits;
    bool ties_up;
    const HashKey* key = nullptr;  // by which features are widened; null: plain nd1

    std::size_t row_limbs() const { return (bits + 63) / 64; }
};

// Document i has the terms offsets[i] … offsets[i + 1]: each a row of `digests`, with its weight.
struct TermColumn {
    const std::int64_t* offsets;
    std::size_t count;
    const std::int32_t* terms;
    const double* weights;
    const std::uint64_t* digests;
};

// Document i has the features offsets[i] … offsets[i + 1]: nd1 hashes, plain or keyed, with their
// weights.
struct FeatureColumn {
    const std::int64_t* offsets;
    std::size_t count;
    const std::uint64_t* hashes;
    const double* weights;
};

// Where their results go: row i of `bits` and, unless it is null, row i of `sums`.
struct TermRows {
    std::uint64_t* bits;
    double* sums;
};

}  // namespace neardup
