// One document → its features in ascending order, each once, with the number of times it occurs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "buffer.hpp"
#include "feature_stream.hpp"
#include "isa.hpp"
#include "recipe.hpp"
#include "sorted.hpp"

namespace neardup::NEARDUP_ISA {

class FeatureSets {
  public:
    // Take the union of all kinds of shingles of a text; return its number of words.
    std::size_t run(const ShingleList& shingles, const std::uint8_t* text, std::size_t size) {
        distinct_ = fresh_ = 0;
        std::size_t words = 0;
        for (std::size_t i = 0; i < shingles.count; ++i)
            words = stream_.run(shingles.of[i], text, size, *this);
        if (words == 0) fresh_ = distinct_ = 0;
        compact();
        return words;
    }

    const std::uint64_t* hashes() { return hashes_.data(); }
    const std::uint32_t* counts() { return counts_.data(); }
    std::size_t size() const { return distinct_; }

    // Give back the room that a giant document took.
    void release_if_above(std::size_t most) {
        if (stream_.bytes() + sorter_.bytes() + hashes_.bytes() + counts_.bytes() +
                fresh_hashes_.bytes() + merged_hashes_.bytes() + merged_counts_.bytes() <= most)
            return;
        stream_.release();
        sorter_.release();
        hashes_.release();
        counts_.release();
        fresh_hashes_.release();
        merged_hashes_.release();
        merged_counts_.release();
    }

    // The features of a text come in here, piece by piece.
    std::uint64_t* room(std::size_t count) {
        // As long as a compaction takes in as much as there is already, the work stays n log n.
        if (fresh_ >= kLeastFresh && fresh_ >= distinct_) compact();
        return fresh_hashes_.reserve(fresh_ + count) + fresh_;
    }
    void take(std::size_t count) { fresh_ += count; }

  private:
    static constexpr std::size_t kLeastFresh = 1 << 20;

    // Sort what came since the last time, count what is equal, and merge it with what was there.
    void compact() {
        std::uint64_t* fresh = fresh_hashes_.data();
        if (fresh_ != 0) sorter_.run(fresh, fresh_);
        std::uint64_t* hashes = merged_hashes_.reserve(distinct_ + fresh_);
        std::uint32_t* counts = merged_counts_.reserve(distinct_ + fresh_);
        std::size_t made = 0, old = 0;
        for (std::size_t i = 0; i < fresh_;) {
            std::size_t end = i + 1;
            while (end < fresh_ && fresh[end] == fresh[i]) ++end;
            std::uint32_t count = static_cast<std::uint32_t>(end - i);
            for (; old < distinct_ && hashes_.data()[old] < fresh[i]; ++old, ++made) {
                hashes[made] = hashes_.data()[old];
                counts[made] = counts_.data()[old];
            }
            if (old < distinct_ && hashes_.data()[old] == fresh[i]) count += counts_.data()[old++];
            hashes[made] = fresh[i];
            counts[made++] = count;
            i = end;
        }
        for (; old < distinct_; ++old, ++made) {
            hashes[made] = hashes_.data()[old];
            counts[made] = counts_.data()[old];
        }
        hashes_.swap(merged_hashes_);
        counts_.swap(merged_counts_);
        distinct_ = made;
        fresh_ = 0;
    }

    FeatureStream stream_;
    HashSorter sorter_;
    Buffer<std::uint64_t> hashes_, fresh_hashes_, merged_hashes_;
    Buffer<std::uint32_t> counts_, merged_counts_;
    std::size_t distinct_ = 0;  // features in hashes_, ascending
    std::size_t fresh_ = 0;     // features in fresh_hashes_, as they came
};

}  // namespace neardup::NEARDUP_ISA
