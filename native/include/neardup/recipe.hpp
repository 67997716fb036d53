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

}  // namespace neardup
