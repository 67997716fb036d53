// The documents that may be in a pair, as lists of ranked features, rarest first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "neardup/room.hpp"
#include "neardup/set_join/join.hpp"
#include "neardup/set_join/limits.hpp"

namespace neardup {

// Documents are numbered by ascending mass. Features that occur in one document only are left out,
// and so are documents with too few shared features.
struct RankedDocuments {
    std::vector<std::uint32_t> places;  // of each document in the input: left ones, then right ones
    std::vector<double> masses;         // with the features left out; of a cosine, exactly summed
    std::vector<std::size_t> starts, ends;
    Room<std::uint32_t> features;  // from starts[i] to ends[i], ascending
    Room<double> weights;          // beside them; of a cosine, for documents of length 1
    Room<float> rests;             // at least the mass of what comes after; of a cosine, its root
    std::size_t feature_count;     // different ones, numbered from the rarest
    bool of_length_1;

    std::size_t count() const { return places.size(); }
    std::size_t size(std::size_t i) const { return ends[i] - starts[i]; }
    const std::uint32_t* begin(std::size_t i) const { return features.data() + starts[i]; }
    const double* weights_of(std::size_t i) const { return weights.data() + starts[i]; }
    const float* rests_of(std::size_t i) const { return rests.data() + starts[i]; }

    // The mass of a document by the weights beside its features.
    double whole(std::size_t i) const { return of_length_1 ? 1 : masses[i]; }
};

RankedDocuments rank_documents(const Collections& documents, Measure measure, const Limits& limits,
                               std::size_t threads);

// The rank of a feature that no other document has.
inline constexpr std::uint32_t kAlone = 0xFFFFFFFF;

// For each hash its rank among the different ones, from the one that is there least often, or
// kAlone; returns the number of ranks. There can be 2^32 - 2 hashes.
std::size_t rank_features(const std::uint64_t* hashes, std::size_t count, std::size_t threads,
                          std::uint32_t* ranks);

}  // namespace neardup
