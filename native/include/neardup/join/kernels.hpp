// The comparisons of a join as compiled for each instruction set, and the choice between them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "sides.hpp"

namespace neardup {

// Told of every pair within the distance.
struct OnPair {
    void (*call)(void* context, std::size_t i, std::size_t j, std::uint32_t distance);
    void* context;

    NEARDUP_INLINE void operator()(std::size_t i, std::size_t j, std::uint32_t distance) const {
        call(context, i, j, distance);
    }
};

// So many values can be read behind the last item of all buckets, whatever they are.
inline constexpr std::size_t kPadding = 8;

// Buckets of rows: bucket d has the items [starts[d], starts[d + 1]). Those larger than `largest`
// are left out. With two sides, the left rows of a bucket come first.
struct Buckets {
    const std::uint64_t* values;  // of rows of one word
    const std::uint32_t* places;
    const std::uint32_t* starts;
    std::size_t count, largest;
};

// Rows turned so that the same word of all stands together, `stride` from word to word.
struct Tile {
    const std::uint64_t* words;
    std::size_t stride, row_words;
    std::size_t first;  // the number of its first row
};
inline constexpr std::size_t kTileRows = 512;

// Up to here, half a word tells nearly all pairs apart; 16 are compared where 8 whole ones would
// be.
inline constexpr std::uint32_t kFewBits = 7;

struct JoinKernels {
    // Compare the rows of one word within each bucket; `turn` brings bits that may differ into the
    // lower half. Pairs are told by their items.
    void (*compare_words)(const Buckets&, const Sides&, std::uint32_t most, int turn,
                          const OnPair&);
    // The same for wider rows, in `room` for a tile.
    void (*compare_rows)(const Buckets&, const Sides&, std::uint32_t most, std::uint64_t* room,
                         const OnPair&);
    // Compare row `i` with the rows [first, last), all of which are in a tile.
    void (*compare_tile)(const std::uint64_t* row, std::size_t i, const Tile&, std::size_t first,
                         std::size_t last, std::uint32_t most, const OnPair&);
};

namespace portable {
extern const JoinKernels join_kernels;
}
namespace sse2 {
extern const JoinKernels join_kernels;
}
namespace avx2 {
extern const JoinKernels join_kernels;
}

// The comparisons for an instruction set by name, or the fastest ones for "auto".
const JoinKernels& join_kernels_for(const std::string& isa);

}  // namespace neardup
