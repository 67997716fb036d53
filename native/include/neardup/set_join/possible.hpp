// Which documents can be in a pair at all: those that share enough features with others.
//
// Most features of most collections occur in one document only and cannot make a pair. Two bits for
// each feature are enough to recognise nearly all of them: a table of bits instead of a map.
#pragma once

#include <cstddef>
#include <cstdint>

#include "neardup/room.hpp"
#include "neardup/set_join/join.hpp"
#include "neardup/set_join/limits.hpp"
#include "neardup/set_join/pair.hpp"

namespace neardup {

// Which features more than one document may have.
class SharedFilter {
  public:
    // For about `features` features, of one collection or of `two`.
    SharedFilter(std::size_t features, bool two);

    // Record the features of documents of the left (or only) side, or of the right one. `wanted`
    // says which documents count; null: all.
    void see(const FeatureColumn& column, bool right, const bool* wanted, std::size_t threads);

    // False: only one document has the feature, or only documents of one side.
    bool maybe_shared(std::uint64_t hash) const {
        const std::uint64_t slot = slot_of(hash);
        return (words_[slot / 32] >> (slot % 32 * 2) & 3) == 3;
    }

    // Whether a document has the feature, of the only side, of the left or the right one.
    bool maybe_seen(std::uint64_t hash, bool right) const {
        const std::uint64_t slot = slot_of(hash);
        return (words_[slot / 32] >> (slot % 32 * 2) & (right ? 2 : 1)) != 0;
    }

    // Prefetch the table entry of a feature; this many features ahead is best.
    static constexpr std::size_t kAhead = 32;
    void prefetch(std::uint64_t hash) const { __builtin_prefetch(words_ + slot_of(hash) / 32, 1); }

  private:
    std::uint64_t slot_of(std::uint64_t hash) const {
        return hash * 0x9E3779B97F4A7C15ULL >> shift_;
    }
    void mark(const FeatureColumn& column, const bool* wanted, std::uint64_t first,
              std::uint64_t last, std::uint64_t side);

    bool two_;
    int shift_;
    Room<std::uint64_t> room_;
    std::uint64_t* words_;
    std::size_t word_count_;
};

// The mass of a document, and the number of its features that other documents may have; 0 if those
// are too light to reach the threshold. Masses are exactly summed for a cosine, containment and
// inclusion.
struct Possible {
    double mass;
    std::uint32_t shared;
    bool as_lighter;  // whether those are enough for a pair with a document that is not lighter
};

// `within` is the number of features that can be read from the document's first one; `room` is
// reused from document to document.
Possible possible_of(const DocumentView& document, std::size_t within, Measure measure,
                     const Limits& limits, const SharedFilter& filter, WeightedPairs& room);

// Clear `wanted` for every document that can be in no pair.
void keep_possible(const FeatureColumn& column, Measure measure, double threshold,
                   const SharedFilter& filter, std::size_t threads, bool* wanted);

}  // namespace neardup
