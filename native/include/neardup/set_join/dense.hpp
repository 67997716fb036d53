// Dense clusters: pairs join two clusters only if enough of their cross pairs are pairs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "neardup/set_join/join.hpp"

namespace neardup {

// How many documents each node stands for: at least one if it is in a pair, and all together fewer
// than 2^32. Nodes from `first_other` on are of another collection, within which nothing was
// compared.
struct NodeSizes {
    const std::int64_t* documents;
    std::size_t first_other;
};

// For each of `count` nodes the smallest node of its cluster. The pairs, each named once, are taken
// in their order. The first `certain` of them join two clusters in any case, the others if at least
// `share` of the cross pairs that were compared are pairs. Clusters with two nodes that are `apart`
// are never joined.
//
// The pairs between clusters are counted in one hash table. When two clusters are joined, the edges
// of the one with fewer are handed over: O(E log E) in all, and 40 to 48 bytes for each edge.
void dense_clusters(std::size_t count, const NodeSizes& sizes, const PairList& pairs,
                    std::size_t certain, const PairList& apart, double share,
                    std::int64_t* smallest);

}  // namespace neardup
