// The pairs that a join finds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace neardup {

struct FoundPair {
    std::uint64_t places;  // a, and b in the lower half, so that pairs sort by (a, b)
    std::uint32_t distance;

    FoundPair(std::size_t a, std::size_t b, std::uint32_t bits)
        : places(a << 32 | b), distance(bits) {}

    std::uint32_t a() const { return static_cast<std::uint32_t>(places >> 32); }
    std::uint32_t b() const { return static_cast<std::uint32_t>(places); }
};

// Sort pairs by (a, b).
void sort_pairs(std::vector<FoundPair>& pairs);

// Concatenate all parts and empty them.
std::vector<FoundPair> gather_pairs(std::vector<std::vector<FoundPair>>& parts);

}  // namespace neardup
