// One document → its features in ascending order, each once, with the number of times it occurs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "neardup/buffer.hpp"
#include "neardup/hash_sorter.hpp"
#include "neardup/isa.hpp"
#include "neardup/text/feature_stream.hpp"
#include "neardup/text/recipe.hpp"

namespace neardup::NEARDUP_ISA {

template <typename Hash>
class FeatureSets {
  public:
    explicit FeatureSets(const Hash& hash) : stream_(hash) {}

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

    // Free the memory that a very long document needed.
    void release_if_above(std::size_t most) {
        const auto all = [&](auto&& act) {
            act(stream_, sorter_, hashes_, counts_, fresh_hashes_, found_hashes_, found_counts_,
                merged_hashes_, merged_counts_);
        };
        std::size_t held = 0;
        all([&](auto&... rooms) { held = (rooms.bytes() + ...); });
        if (held > most) all([](auto&... rooms) { (rooms.release(), ...); });
    }

    // Receives the features of a text, piece by piece.
    std::uint64_t* room(std::size_t count) {
        // If each compaction at least doubles the input, the total work is O(n log n).
        if (fresh_ >= kLeastFresh && fresh_ >= distinct_) compact();
        return fresh_hashes_.reserve(fresh_ + count) + fresh_;
    }
    void take(std::size_t count) { fresh_ += count; }

  private:
    static constexpr std::size_t kLeastFresh = 1 << 20;

    // Sort the new features, count equal ones, and merge them with the old.
    void compact() {
        if (fresh_ == 0) return;
        sorter_.run(fresh_hashes_.data(), fresh_);
        const std::size_t found = count_equal();
        fresh_ = 0;
        if (distinct_ == 0) {
            hashes_.swap(found_hashes_);
            counts_.swap(found_counts_);
            distinct_ = found;
        } else {
            merge(found);
        }
    }

    // The sorted features, each once, go to found_hashes_; without a branch that could be
    // mispredicted.
    std::size_t count_equal() {
        const std::uint64_t* fresh = fresh_hashes_.data();
        std::uint64_t* hashes = found_hashes_.reserve(fresh_);
        std::uint32_t* counts = found_counts_.reserve(fresh_);
        std::size_t found = 0;
        for (std::size_t i = 0; i + 1 < fresh_; ++i) {
            hashes[found] = fresh[i];
            counts[found] = static_cast<std::uint32_t>(i + 1);
            found += fresh[i] != fresh[i + 1];
        }
        hashes[found] = fresh[fresh_ - 1];
        counts[found++] = static_cast<std::uint32_t>(fresh_);
        // So far `counts` tells where the equal ones end.
        for (std::size_t i = found - 1; i != 0; --i) counts[i] -= counts[i - 1];
        return found;
    }

    void merge(std::size_t found) {
        const std::uint64_t *old = hashes_.data(), *fresh = found_hashes_.data();
        const std::uint32_t *old_counts = counts_.data(), *fresh_counts = found_counts_.data();
        std::uint64_t* hashes = merged_hashes_.reserve(distinct_ + found);
        std::uint32_t* counts = merged_counts_.reserve(distinct_ + found);
        std::size_t made = 0, i = 0, j = 0;
        for (; i < distinct_ || j < found; ++made) {
            const bool from_old = j == found || (i < distinct_ && old[i] <= fresh[j]);
            const bool from_fresh = i == distinct_ || (j < found && fresh[j] <= old[i]);
            hashes[made] = from_old ? old[i] : fresh[j];
            counts[made] = (from_old ? old_counts[i] : 0) + (from_fresh ? fresh_counts[j] : 0);
            i += from_old;
            j += from_fresh;
        }
        hashes_.swap(merged_hashes_);
        counts_.swap(merged_counts_);
        distinct_ = made;
    }

    FeatureStream<Hash> stream_;
    HashSorter<std::uint64_t> sorter_;
    Buffer<std::uint64_t> hashes_, fresh_hashes_, found_hashes_, merged_hashes_;
    Buffer<std::uint32_t> counts_, found_counts_, merged_counts_;
    std::size_t distinct_ = 0;  // features in hashes_, ascending
    std::size_t fresh_ = 0;     // features in fresh_hashes_, as they came
};

}  // namespace neardup::NEARDUP_ISA
