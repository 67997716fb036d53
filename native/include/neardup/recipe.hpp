// What the kernels are asked to do, and over what: plain values, the same for every ISA.
#pragma once

#include <cstddef>
#include <cstdint>

namespace neardup {

struct Recipe {
    bool words;          // units are words, else code points of the folded text
    std::size_t size;    // units to a shingle
    bool distinct;       // each feature once, else as often as it occurs
    std::uint32_t bits;  // width of the fingerprint
    bool ties_up;        // a sum of zero makes a 1

    std::size_t row_words() const { return (bits + 63) / 64; }
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

    std::size_t row_words() const { return (bits + 63) / 64; }
};

// Document i has the terms offsets[i] … offsets[i + 1]: each a row of `digests`, with its weight.
struct TermColumn {
    const std::int64_t* offsets;
    std::size_t count;
    const std::int32_t* terms;
    const double* weights;
    const std::uint64_t* digests;
};

// Where their results go: row i of `bits` and, unless it is null, row i of `sums`.
struct TermRows {
    std::uint64_t* bits;
    double* sums;
};

}  // namespace neardup
