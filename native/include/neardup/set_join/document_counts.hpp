// How many documents have a feature, roughly: the order in which the star join looks at features.
//
// A byte for each slot of a table by hash: exact up to 15, then eight steps for each doubling.
// Any order that is the same for all documents is right, so slots that several features share cost
// time only. But a count of 1 is exact: no other document has a feature in that slot.
#pragma once

#include <cstddef>
#include <cstdint>

#include "neardup/room.hpp"
#include "neardup/set_join/join.hpp"

namespace neardup {

class DocumentCounts {
  public:
    // For about `features` features, with a table of at most `most_bytes`.
    DocumentCounts(std::size_t features, std::size_t most_bytes);

    // Count the features of documents; `wanted` says which, null: all. Features without weight do
    // not count.
    void see(const FeatureColumn& column, const bool* wanted, std::size_t threads);

    std::uint8_t of(std::uint64_t hash) const { return table_[slot_of(hash)]; }

    // Prefetch the slot of a feature; this many features ahead is best.
    static constexpr std::size_t kAhead = 24;
    void prefetch(std::uint64_t hash) const { __builtin_prefetch(table_ + slot_of(hash)); }

  private:
    std::uint64_t slot_of(std::uint64_t hash) const {
        return hash * 0x9E3779B97F4A7C15ULL >> shift_;
    }
    void count(const FeatureColumn& column, const bool* wanted, std::uint64_t first,
               std::uint64_t last);

    int shift_;
    Room<std::uint8_t> room_;
    std::uint8_t* table_;
    std::size_t size_;
};

}  // namespace neardup
