// Roughly how many documents have a feature, in a table by hash.
//
// A slot has four bits: exact up to 7, then eight steps, each for about three times as many. Any
// order that is the same for all documents is right, so slots that several features share cost time
// only. But a count of 1 is exact: no other document has a feature in that slot.
//
// Nearly every feature is in another line of memory. So many of them are collected and sorted by
// the part of the table that they are in, and each part is counted while it is in the cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "neardup/room.hpp"
#include "neardup/set_join/join.hpp"

namespace neardup {

class DocumentCounts {
  public:
    static constexpr std::size_t kCounts = 16;

    // For about `features` features, with a table of at most `most_bytes`. Until all is counted it
    // takes as much again.
    DocumentCounts(std::size_t features, std::size_t most_bytes);

    // Count the features of documents; `wanted` says which, null: all. Features without weight do
    // not count. No count depends on the number of threads, or on how documents are divided.
    void see(const FeatureColumn& column, const bool* wanted, std::size_t threads);

    // Count all that was seen, which is needed before `of`.
    void finish(std::size_t threads);

    std::uint8_t of(std::uint64_t hash) const {
        const std::uint64_t slot = slot_of(hash);
        return table_[slot / 2] >> slot % 2 * 4 & (kCounts - 1);
    }

    // Prefetch the slot of a feature; this many features ahead is best.
    static constexpr std::size_t kAhead = 48;
    void prefetch(std::uint64_t hash) const { __builtin_prefetch(table_ + slot_of(hash) / 2); }

  private:
    // A part of the table has 256 KB, which a core holds in its own cache beside what it reads.
    static constexpr int kPartBits = 18;

    std::uint64_t slot_of(std::uint64_t hash) const {
        return hash * 0x9E3779B97F4A7C15ULL >> shift_;
    }
    static std::size_t part_of(std::uint32_t slot) { return slot >> (kPartBits + 1); }

    std::size_t collect(const FeatureColumn& column, std::size_t first, std::size_t last,
                        std::uint32_t* to) const;
    void count_waiting(std::size_t threads);
    void sort_chunk(std::size_t chunk);
    void count(std::uint32_t slot);

    int shift_;
    std::size_t parts_, at_once_;
    Room<std::uint8_t> room_;
    std::uint8_t* table_;
    std::vector<std::uint64_t> draws_;  // random numbers that each part has taken
    // Slots that are not counted yet, and the same sorted by part within each chunk.
    Room<std::uint32_t> waiting_room_, sorted_room_;
    std::uint32_t *waiting_ = nullptr, *sorted_ = nullptr;
    std::size_t waiting_count_ = 0;      // up to at_once_
    std::vector<std::uint32_t> starts_;  // for each chunk, where each part begins, and the end
};

}  // namespace neardup
