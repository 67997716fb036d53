// How many documents have each feature: a map from feature hash to count, of bounded size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "neardup/process_seed.hpp"

namespace neardup {

// Above `limit` features, the rarest are dropped: those in at most `floor()` documents at that time
// (lossy counting: Manku and Motwani 2002). A count is then too low by at most `floor()`. If
// nothing was dropped, counts are exact.
class FeatureCounts {
  public:
    explicit FeatureCounts(std::size_t limit) : limit_(limit) {}

    // Add one to the count of every hash; pass each feature of a document once. The result depends
    // on the order of calls only if features were dropped.
    void add(const std::uint64_t* hashes, std::size_t count);

    // Set the count of a feature.
    void set(std::uint64_t hash, std::uint32_t count);

    // Write the count of each hash; 0 where it is unknown.
    void look_up(const std::uint64_t* hashes, std::size_t count, std::uint32_t* out) const;

    // The features in at least `least` documents, by ascending hash, and their counts.
    struct Items {
        std::vector<std::uint64_t> hashes;
        std::vector<std::uint32_t> counts;
    };
    Items items(std::uint32_t least) const;

    std::size_t size() const { return used_; }
    std::uint32_t floor() const { return floor_; }

  private:
    // The preferred slot of a hash. It is seeded, so that nobody can choose hashes that collide.
    std::size_t home_of(std::uint64_t hash) const { return seed_.mix(hash) & (hashes_.size() - 1); }
    std::size_t slot_of(std::uint64_t hash) const;
    void rebuild(std::size_t slots);
    void make_room();

    ProcessSeed seed_ = process_seed();
    std::size_t limit_;
    std::vector<std::uint64_t> hashes_;
    std::vector<std::uint32_t> counts_;  // 0: free
    std::size_t used_ = 0;
    std::uint32_t floor_ = 0;
};

}  // namespace neardup
