// The comparisons of a Hamming join as compiled for each instruction set.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>

#include "neardup/isa.hpp"

namespace neardup {

// The rows of a join: one collection, or a left and a right one. A row is a fingerprint of `limbs`
// 64-bit limbs. Places number the left rows, then the right ones; in a self-join all rows are left
// rows.
struct Sides {
    const std::uint64_t* left;
    std::size_t left_count;
    const std::uint64_t* right;
    std::size_t right_count;
    std::size_t limbs;
    bool two;

    NEARDUP_INLINE std::size_t count() const { return left_count + right_count; }

    NEARDUP_INLINE const std::uint64_t* row(std::size_t place) const {
        return place < left_count ? left + place * limbs : right + (place - left_count) * limbs;
    }
};

// Called with every pair within the distance.
struct OnPair {
    void (*call)(void* context, std::size_t i, std::size_t j, std::uint32_t distance);
    void* context;

    NEARDUP_INLINE void operator()(std::size_t i, std::size_t j, std::uint32_t distance) const {
        call(context, i, j, distance);
    }
};

// This many values can be read past the last item of all buckets; their contents do not matter.
inline constexpr std::size_t kPadding = 8;

// Buckets of rows: bucket d has the items [starts[d], starts[d + 1]). Buckets larger than
// `largest` are skipped. With two sides, the left rows of a bucket come first.
struct Buckets {
    const std::uint64_t* values;  // of rows of one limb
    const std::uint32_t* places;
    const std::uint32_t* starts;
    std::size_t count, largest;
};

// Transposed rows: limb i of all rows is contiguous, and `stride` apart from limb i + 1.
struct Tile {
    const std::uint64_t* limbs;
    std::size_t stride, row_limbs;
    std::size_t first;  // the number of its first row
};
inline constexpr std::size_t kTileRows = 512;

// Up to this distance, half a limb tells nearly all pairs apart, and 16 halves are compared at once
// instead of 8 limbs.
inline constexpr std::uint32_t kFewBits = 7;

// Which bits of a limb are looked at first. Pairs that differ in more than `most` bits of the
// quarter are not sought: 32 quarters are compared at once.
struct Screen {
    int half_turn = 0;          // brings bits that may differ into the lower half
    int turn = 0;               // brings the quarter to the lower end
    std::uint16_t quarter = 0;  // after the turn; 0: no quarter tells enough pairs apart
    std::uint32_t most = 0;

    NEARDUP_INLINE std::uint16_t of(std::uint64_t limb) const {
        return static_cast<std::uint16_t>(std::rotl(limb, turn) & quarter);
    }
};

struct HammingKernels {
    // Compare the rows of one limb within each bucket. Pairs are reported by their items, those
    // that are not sought perhaps too.
    void (*compare_limbs)(const Buckets&, const Sides&, std::uint32_t most, const Screen&,
                          const OnPair&);
    // The same for wider rows; `room` holds a tile.
    void (*compare_rows)(const Buckets&, const Sides&, std::uint32_t most, std::uint64_t* room,
                         const OnPair&);
    // Compare row `i` with the rows [first, last), all of which are in a tile.
    void (*compare_tile)(const std::uint64_t* row, std::size_t i, const Tile&, std::size_t first,
                         std::size_t last, std::uint32_t most, const OnPair&);
};

NEARDUP_IN_EVERY_ISA(extern const HammingKernels hamming_kernels;)

// The comparisons for an instruction set by name, or the fastest ones for "auto".
const HammingKernels& hamming_kernels_for(const std::string& isa);

}  // namespace neardup
