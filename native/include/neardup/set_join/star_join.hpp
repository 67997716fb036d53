// The star join: for each document the most similar kept one, in one pass in keep order.
//
// By inclusion, a document that is looked up is the first one: it is compared by what stands of it
// in a kept one, whichever comes first.
//
// A document that is similar to a kept one is removed, any other is kept. Only kept documents are
// in the index, so a family of similar documents costs as much as its few kept ones. The same
// index finds all pairs, if every document is put into it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "neardup/set_join/document_counts.hpp"
#include "neardup/set_join/join.hpp"
#include "neardup/set_join/stored_features.hpp"

namespace neardup {

enum class Decision : std::uint8_t { open, kept, removed };

// What is known of all documents, by place. `copy_of` is the first in keep order of the documents
// with the same features. Of an open or removed document, `kept_for` is the most similar kept one
// so far and `similarity` how similar it is; without one, `kept_for` is its own place.
struct Decisions {
    const std::int64_t* copy_of;
    Decision* decision;
    std::int64_t* kept_for;
    double* similarity;
};

// No result depends on the number of threads, nor on the memory.
class StarJoin {
  public:
    virtual ~StarJoin() = default;

    // Decide on documents, in this order: keep or remove. One that is kept beforehand goes into
    // the index unasked. Returns how many were decided on: fewer than `count` if the index is full.
    // Then look up the others, clear the index, and go on with them.
    virtual std::size_t decide(const std::int64_t* places, std::size_t count,
                               const Decisions& documents, std::size_t threads) = 0;

    // Look documents up, which come after all in the index, without deciding on them.
    virtual void look_up(const std::int64_t* places, std::size_t count, const Decisions& documents,
                         std::size_t threads) = 0;

    // Look documents up, put them into the index, or both, in this order, and append the pairs to
    // `found`, in any order. Returns how many documents were
    // done: fewer than `count` if there are `most` pairs or the index is full.
    struct Part {
        bool search, insert;
        std::size_t most;
    };
    virtual std::size_t pairs(const std::int64_t* places, std::size_t count, const Part& part,
                              std::size_t threads, std::vector<SimilarPair>& found) = 0;

    virtual void clear() = 0;
    virtual bool full() const = 0;

    // Pairs whose features were compared so far.
    virtual std::uint64_t compared() const = 0;
};

// `features` is about the number of features that documents have, `memory` the size of the index
// in bytes from which on it is full. The features and counts must outlive the join.
std::unique_ptr<StarJoin> star_join(const StoredFeatures& stored, DocumentCounts& counts,
                                    Measure measure, double threshold, std::size_t features,
                                    std::size_t memory);

// The stars that given pairs make, each between the first documents of two groups of copies.
// Documents are decided on in the order of `places`.
void stars_of_pairs(const std::int64_t* places, std::size_t count, const PairList& pairs,
                    const double* similarities, const Decisions& documents, std::size_t all);

}  // namespace neardup
