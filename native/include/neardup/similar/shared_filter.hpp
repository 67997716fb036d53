// Which features more than one document may have.
//
// Most features of most collections are found in one document. They cannot make a pair, and two
// bits for each tell nearly all of them: a table of bits instead of a map of features.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../join/memory.hpp"
#include "similar.hpp"

namespace neardup {

class SharedFilter {
  public:
    // For about so many features, of one collection or of `two`.
    SharedFilter(std::size_t features, bool two);

    // Note the features of documents of the left side (the only one) or of the right; unless it is
    // null, `wanted` says which documents count.
    void see(const FeatureColumn& column, bool right, const bool* wanted, std::size_t threads);

    // False: one document of the collection has the feature, or those of one side alone.
    bool maybe_shared(std::uint64_t hash) const {
        const std::uint64_t slot = slot_of(hash);
        return (words_[slot / 32] >> (slot % 32 * 2) & 3) == 3;
    }

    // Have the table at hand when the feature comes; so many features ahead is best.
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

}  // namespace neardup
