// A packed part of an index of sets, written once and read in place.
//
// Equal sets are one; sets are ordered by mass. Documents are found by their numbers in blocks of
// records, where their features are. docs/how-it-works/index-storage.md describes the bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "neardup/index_tables/segment.hpp"
#include "neardup/set_index/candidates.hpp"
#include "neardup/set_index/rarity.hpp"

namespace neardup {

// Records of documents with ascending numbers, and where the features of each are. Nothing needs to
// be aligned, and nothing is trusted.
struct FeatureBlock {
    const std::uint8_t* data;
    std::size_t size;
    std::uint64_t first;  // number of the first document
    std::size_t documents;
    std::size_t numbers;   // where they begin: 32 bits each, relative to the first
    std::size_t expires;   // 64 bits each; 0 if no document expires
    std::size_t starts;    // of the features: 32 bits each, one more than documents
    std::size_t features;  // what the starts count from

    std::uint64_t number(std::size_t place) const;
    std::int64_t expiry(std::size_t place) const;
    StoredSet set(std::size_t place) const;
    // The place of a document, or `documents`.
    std::size_t find(std::uint64_t number) const;

    // Throws std::invalid_argument unless all columns are within the data.
    void check() const;
};

inline constexpr std::int64_t kNoExpiry = std::numeric_limits<std::int64_t>::max();

struct SetSegmentHead {
    static constexpr std::uint64_t kMagic = 0x1A74657364726E65ULL;
    static constexpr std::uint64_t kVersion = 1;

    std::uint64_t magic, version;
    std::uint64_t measure, weighted, threshold, bands, minima;  // the plan; threshold as a double
    std::uint64_t first, sets, documents;
    std::uint64_t depth;                                  // of the tables of bands
    std::uint64_t prefix_depth, prefix_postings, rarity;  // rarity: log of its table
    std::uint64_t expires;                                // whether any document does
    std::uint64_t bytes, body_sum, head_sum;
};

// Where the parts of a segment begin, in bytes.
struct SetSegmentLayout {
    std::size_t masses, starts, numbers, expires, bitmaps;
    std::size_t band_ends;  // of the postings of each band, 64 bits
    std::size_t buckets, postings;
    std::size_t rarity, prefix_buckets, prefix_postings, end;

    SetSegmentLayout() = default;
    SetSegmentLayout(const SetSegmentHead& head, std::size_t bitmap_words,
                     std::size_t band_postings);
};

// Postings: the place of a set, and eight bits of its key. A place of all ones says that so many
// sets have this key that they are found by their rarest features instead.
inline constexpr std::uint32_t kTagBits = 8;
inline constexpr std::uint32_t kCrowded = 0xFFFFFF;
inline constexpr std::size_t kMostSets = kCrowded;
// As many sets with the same key of a band are too many to look at.
inline constexpr std::size_t kCrowd = 64;

inline std::size_t bucket_of_key(std::uint32_t key, unsigned depth) {
    return depth == 0 ? 0 : key >> (32 - depth);
}
inline std::uint32_t tag_of_key(std::uint32_t key, unsigned depth) {
    return key << depth >> (32 - kTagBits);
}

// Which documents of blocks to pack: those of these numbers, which ascend, or all.
struct ChosenNumbers {
    const std::uint64_t* numbers;
    std::size_t count;
    bool all;
};

// Pack documents of blocks, which ascend, into a segment.
std::vector<std::uint64_t> pack_sets(const SetPlan& plan, const std::vector<FeatureBlock>& blocks,
                                     const ChosenNumbers& chosen, std::size_t threads);

// A segment and its blocks, in memory that it does not own. Damage throws std::invalid_argument
// when it is met; nothing outside the memory is ever read.
class SetSegment {
  public:
    SetSegment(const std::uint8_t* data, std::size_t size, std::vector<FeatureBlock> blocks);
    SetSegment(const SetSegment&) = delete;  // it may point into itself

    // Memory that searches reuse; one for each thread.
    struct Scratch {
        struct Bound {
            double most;  // similarity
            std::uint32_t set;
        };
        struct Lookup {
            std::uint32_t key, first, last;  // and the range of sets to look for
        };
        std::vector<std::uint32_t> sets;
        std::vector<Bound> bounds;
        std::vector<Lookup> lookups;
        RarestFeatures rarest;
    };
    void search(SetComparer& comparer, const SetQuestion& question, const DeadNumbers& dead,
                std::uint64_t skip, BestMatches& best, Scratch& scratch) const;

    // Read every byte.
    void check() const;

    const SetSegmentHead& head() const { return *reinterpret_cast<const SetSegmentHead*>(data_); }
    SetPlan plan() const;

  private:
    template <typename T>
    const T* part(std::size_t at) const {
        return reinterpret_cast<const T*>(data_ + at / 8);
    }
    double mass(std::size_t set) const;
    std::size_t size_of(std::size_t set) const { return part<std::uint32_t>(layout_.masses)[set]; }
    // The first set whose mass is not below (or is above) a value.
    std::size_t first_of_mass(double mass, bool above) const;
    const std::uint64_t* bitmap(std::size_t set, int log) const;
    void gather_bands(const IndexedSet& asked, std::uint32_t first, std::uint32_t last,
                      bool& crowded, std::vector<std::uint32_t>& sets) const;
    void gather_prefix(const SetComparer& comparer, double threshold, std::uint32_t first,
                       std::uint32_t last, Scratch& scratch) const;
    StoredSet stored(std::uint64_t number) const;
    // Pass the numbers of a set that are alive to `take`, ascending, until it returns false.
    template <typename Take>
    void each_alive(std::size_t set, const SetQuestion& question, const DeadNumbers& dead,
                    std::uint64_t skip, const Take& take) const;

    std::vector<std::uint64_t> aligned_;  // a copy, if the memory was not aligned
    const std::uint64_t* data_;
    std::size_t size_;
    SetSegmentLayout layout_;
    std::vector<FeatureBlock> blocks_;
    // Sets whose bitmaps have 2^log words begin at this place, and their bitmaps at this word.
    std::size_t log_begins_[16], log_words_[16];
};

}  // namespace neardup
