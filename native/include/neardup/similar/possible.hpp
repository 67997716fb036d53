// Which documents can be in a pair at all: those of which others may have enough.
#pragma once

#include <cstddef>
#include <cstdint>

#include "limits.hpp"
#include "pair.hpp"
#include "shared_filter.hpp"

namespace neardup {

// The mass of a document, exactly summed for a cosine, and how many of its features others may
// have; none, if those are too light to reach the threshold.
struct Possible {
    double mass;
    std::uint32_t shared;
};

// `within` is how many features can be read from the document's first one on; `room` is kept from
// one document to the next.
Possible possible_of(const DocumentView& document, std::size_t within, Measure measure,
                     const Limits& limits, const SharedFilter& filter, WeightedPairs& room);

// Clear `wanted` for every document that can be in no pair.
void keep_possible(const FeatureColumn& column, Measure measure, double threshold,
                   const SharedFilter& filter, std::size_t threads, bool* wanted);

}  // namespace neardup
