// Hamming joins: pairs of fingerprints that differ in few bits, and groups of equal ones.
//
// No result depends on the number of threads or on the instruction set. A join that would find more
// than `most_pairs` throws TooManyPairs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "neardup/hamming_join/costs.hpp"
#include "neardup/hamming_join/kernels.hpp"
#include "neardup/hamming_join/pairs.hpp"
#include "neardup/pair_limit.hpp"

namespace neardup {

// Stands for "any distance".
inline constexpr std::uint32_t kAnyDistance = 0xFFFF;

struct Block {
    std::size_t start, stop;  // bits
};

// Pairs of rows that differ in at most `distance` bits, sorted: all of them. `blocks` are
// disjoint and one more than `distance`, or empty to choose them automatically.
std::vector<FoundPair> join_within(const Sides& sides, std::size_t bits, std::uint32_t distance,
                                   const std::vector<Block>& blocks, const HammingCosts& costs,
                                   std::size_t threads, const HammingKernels& kernels,
                                   std::uint64_t most_pairs = kAnyNumber);

// The masks of a plan, one row each.
struct Masks {
    const std::uint64_t* rows;
    std::size_t count;
};

// Pairs of rows that agree on a mask and differ in at most `most` bits, sorted, or their number
// alone.
struct MaskJoin {
    std::vector<FoundPair> pairs;
    std::uint64_t count;
};
MaskJoin join_masks(const Sides& sides, const Masks& masks, std::uint32_t most, bool keep,
                    const HammingCosts& costs, std::size_t threads, const HammingKernels& kernels,
                    std::uint64_t most_pairs = kAnyNumber);

// Pairs that differ in at most `most` bits, sorted, by comparing all rows. With `stops`, only rows
// i < j < stops[i] of the one side.
std::vector<FoundPair> scan_pairs(const Sides& sides, const std::int64_t* stops, std::uint32_t most,
                                  std::size_t threads, const HammingKernels& kernels,
                                  std::uint64_t most_pairs = kAnyNumber);

// For each row, the place of the first row equal to it; none at all where no two rows are equal.
std::vector<std::uint32_t> first_equals(const Sides& sides, std::size_t threads);

// The members of groups, group after group, each in order.
struct Members {
    Members(const std::int64_t* group_of, std::size_t count, std::size_t groups);

    std::vector<std::uint32_t> starts, places;
};

// Pairs of groups → pairs of their members, sorted. Without `right`, pairs within a group are
// included.
std::vector<FoundPair> expand_pairs(const std::vector<FoundPair>& pairs, const Members& left,
                                    const Members* right);

}  // namespace neardup
