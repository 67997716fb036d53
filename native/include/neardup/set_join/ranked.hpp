// The documents that may be in a pair, as lists of ranked features, rarest first.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "neardup/room.hpp"
#include "neardup/set_join/join.hpp"
#include "neardup/set_join/limits.hpp"

namespace neardup {

// Documents are numbered by ascending mass, unless `in_order_of_prefixes` numbers them. Features
// that occur in one document only are left out, and so are documents with too few shared features.
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

// What comes after a feature of a document: a number of features, or as in RankedDocuments.
template <bool Weighted>
using Rest = std::conditional_t<Weighted, float, std::uint32_t>;

template <bool Weighted>
Rest<Weighted> rest_of(const RankedDocuments& documents, std::size_t i, std::size_t k) {
    if constexpr (Weighted)
        return documents.rests_of(i)[k];
    else
        return static_cast<std::uint32_t>(documents.size(i) - k - 1);
}

// How many of the first features of a document are needed, where a rest below `least` is not.
template <bool Weighted>
std::size_t needed_of(const RankedDocuments& documents, std::size_t i, const Limits& limits,
                      double least) {
    const std::size_t size = documents.size(i);
    if constexpr (!Weighted) {
        const auto light = static_cast<std::size_t>(std::max(std::ceil(least) - 1, 0.0));
        return size > light ? size - light : 0;
    } else {
        if (size == 0) return 0;
        const float* rests = documents.rests_of(i);
        const double whole = limits.mass(rests[0]) + limits.mass(documents.weights_of(i)[0]);
        if (whole < least) return 0;
        const float* last = std::partition_point(
            rests, rests + size, [&](float rest) { return limits.mass(rest) >= least; });
        return std::min(static_cast<std::size_t>(last - rests) + 1, size);
    }
}

// Number documents of length 1, whose mass tells nothing, by the last feature that is needed. The
// first of two then has the prefix that ends first, so that what is left of it is known.
RankedDocuments in_order_of_prefixes(RankedDocuments documents, const Limits& limits);

// The rank of a feature that no other document has.
inline constexpr std::uint32_t kAlone = 0xFFFFFFFF;

// For each hash its rank among the different ones, from the one that is there least often, or
// kAlone. Returns, for each rank, the part of all ranked ones that have a lower rank, times 2^32:
// features of documents are spread evenly over that, and so are quickly sorted. There can be
// 2^32 - 2 hashes.
std::vector<std::uint32_t> rank_features(const std::uint64_t* hashes, std::size_t count,
                                         std::size_t threads, std::uint32_t* ranks);

}  // namespace neardup
