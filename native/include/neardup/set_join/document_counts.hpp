// Roughly how many documents have a feature, in a table by hash.
//
// A slot has four bits: exact up to 7, then eight steps, each for about three times as many. Any
// order that is the same for all documents is right, so slots that several features share cost time
// only. But a count of 1 is exact: no other document has a feature in that slot.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "neardup/room.hpp"
#include "neardup/set_join/join.hpp"

namespace neardup {

class DocumentCounts {
  public:
    static constexpr std::size_t kCounts = 16;

    // For about `features` features, with a table of at most `most_bytes`.
    DocumentCounts(std::size_t features, std::size_t most_bytes);

    // Count the features of documents; `wanted` says which, null: all. Features without weight do
    // not count. No count depends on the number of threads.
    void see(const FeatureColumn& column, const bool* wanted, std::size_t threads);

    std::uint8_t of(std::uint64_t hash) const {
        const std::uint64_t slot = mixed(hash) >> shift_;
        return table_[slot / 2] >> slot % 2 * 4 & (kCounts - 1);
    }

    // Prefetch the slot of a feature; this many features ahead is best.
    static constexpr std::size_t kAhead = 24;
    void prefetch(std::uint64_t hash) const {
        __builtin_prefetch(table_ + (mixed(hash) >> shift_) / 2);
    }

  private:
    // By the first bits of a slot. With several threads, each counts one part after the other.
    static constexpr int kPartBits = 6;
    static constexpr std::size_t kParts = std::size_t{1} << kPartBits;

    // Where the features of each part begin, of some that were sorted together.
    using Starts = std::array<std::uint32_t, kParts + 1>;

    static std::uint64_t mixed(std::uint64_t hash) { return hash * 0x9E3779B97F4A7C15ULL; }
    static std::size_t part_of(std::uint64_t hash) { return mixed(hash) >> (64 - kPartBits); }

    void see_by_parts(const FeatureColumn& column, const bool* wanted, std::size_t first,
                      std::size_t last, std::size_t threads);
    void count(std::uint64_t hash);

    int shift_;
    Room<std::uint8_t> room_;
    std::uint8_t* table_;
    std::array<std::uint64_t, kParts> draws_{};  // random numbers that each part has taken
    Room<std::uint64_t> sorted_;
};

}  // namespace neardup
