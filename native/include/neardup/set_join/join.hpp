// Set joins: the true similarity of given pairs, and every pair that reaches a threshold.
//
// Documents are columns of features, ascending within a document, each once; without weights each
// weighs 1. Weights are 0, or from 1e-100 to 1e100. No result depends on the number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "neardup/pair_limit.hpp"
#include "neardup/text/recipe.hpp"

namespace neardup {

// Containment is what both share as a part of the lighter one, inclusion as a part of the first one
// (which is the one that is asked for, where others are kept or stored). Segments of an index on
// disk hold these numbers.
enum class Measure { jaccard, weighted_jaccard, cosine, containment, inclusion };

// Whether a measure divides by the mass of one of the two documents.
inline bool is_of_one(Measure measure) {
    return measure == Measure::containment || measure == Measure::inclusion;
}

// One collection, or a left and a right one. Both have weights, or neither.
struct Collections {
    FeatureColumn left, right;
    bool two;

    // The column that the second document of a pair is in.
    const FeatureColumn& others() const { return two ? right : left; }
};

// `count` pairs of documents: the places of the first and of the second of each.
struct PairList {
    const std::int64_t *a, *b;
    std::size_t count;
};
void similarities(const Collections& documents, const PairList& pairs, Measure measure,
                  std::size_t threads, double* found);

struct SimilarPair {
    std::uint64_t places;  // a, and b in the lower half, so that pairs sort by (a, b)
    double similarity;
};
struct SetJoin {
    std::vector<SimilarPair> pairs;  // sorted
    std::uint64_t compared;          // pairs whose features were compared
    std::uint64_t postings;          // postings to read
    bool done;                       // false: more than `most` postings, nothing was joined
};
// Every pair whose similarity is at least `threshold`, which is above 0. Throws TooManyPairs where
// there are more than `most_pairs`. Of one collection the first document of a pair comes before the
// second; by inclusion, any two documents can be two pairs.
SetJoin join_sets(const Collections& documents, Measure measure, double threshold,
                  std::uint64_t most, std::size_t threads, std::uint64_t most_pairs = kAnyNumber);

// The number of postings that `join_sets` would read.
std::uint64_t predict_postings(const Collections& documents, Measure measure, double threshold,
                               std::size_t threads);

// Connected components: for each of `count` documents the smallest document of its component.
void components(std::size_t count, const PairList& pairs, std::int64_t* smallest);

}  // namespace neardup
