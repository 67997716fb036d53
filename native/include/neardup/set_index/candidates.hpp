// The sets that a query may be similar to, from the cheapest test to the true similarity.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "neardup/set_index/documents.hpp"
#include "neardup/set_index/stored_set.hpp"
#include "neardup/set_join/kernels.hpp"
#include "neardup/set_join/overlap.hpp"
#include "neardup/set_join/pair.hpp"

namespace neardup {

inline constexpr std::uint64_t kNoNumber = ~std::uint64_t{0};

// What a query asks for, the same for all of its documents.
struct SetQuestion {
    double threshold;
    std::size_t limit;  // of matches
    std::int64_t now;   // documents that expire at this time or before do not match
};

struct SetMatch {
    double similarity;
    std::uint64_t number;

    // The most similar first, then the one that was added first.
    bool operator<(const SetMatch& other) const {
        return similarity != other.similarity ? similarity > other.similarity
                                              : number < other.number;
    }
};

// The best matches so far, at most `limit`.
class BestMatches {
  public:
    explicit BestMatches(std::size_t limit) : limit_(limit) {}

    // Whether a match of this similarity could still be among the best.
    bool wants(double similarity) const {
        return limit_ != 0 && (matches_.size() < limit_ || similarity >= worst());
    }
    void add(const SetMatch& match) {
        if (matches_.size() < limit_) {
            matches_.push_back(match);
            std::push_heap(matches_.begin(), matches_.end());
        } else if (limit_ != 0 && match < matches_.front()) {
            std::pop_heap(matches_.begin(), matches_.end());
            matches_.back() = match;
            std::push_heap(matches_.begin(), matches_.end());
        }
    }
    std::size_t limit() const { return limit_; }
    // The matches in order; none are left.
    std::vector<SetMatch> take() {
        std::sort_heap(matches_.begin(), matches_.end());
        return std::move(matches_);
    }

  private:
    double worst() const { return matches_.front().similarity; }

    std::size_t limit_;
    std::vector<SetMatch> matches_;  // a heap, the worst in front
};

// Compares one document with stored ones; reuses its memory.
class SetComparer {
  public:
    SetComparer(const SetPlan& plan, const SetKernels& kernels) : plan_(plan), kernels_(kernels) {}

    void begin(const IndexedSet& asked, double threshold) {
        asked_ = asked;
        limits_ = plan_.limits(threshold);
    }

    const IndexedSet& asked() const { return asked_; }

    // Whether a document of another mass can be similar.
    double least_mass() const { return limits_.least_size(asked_.mass); }
    double most_mass() const { return limits_.largest_size(asked_.mass); }

    // The most that a set of this size can have in common with the document, by its bitmap.
    double most_similar(std::size_t size, const std::uint64_t* bitmap, int log) const {
        const int common = std::min(log, asked_.parity->log());
        std::uint32_t distance;
        kernels_.parity_distances(asked_.parity->of_log(common), std::size_t{1} << common, bitmap,
                                  std::size_t{1} << log, 1, &distance);
        const std::size_t both = asked_.size + size;
        const std::size_t shared = std::min({asked_.size, size, (both - distance) / 2});
        return set_similarity(plan_.measure, shared, asked_.size, size);
    }

    double similarity(const std::uint32_t* features, std::size_t size) const {
        const std::size_t shared = shared_count(asked_.features, asked_.size, features, size);
        return set_similarity(plan_.measure, shared, asked_.size, size);
    }
    double similarity(const DocumentView& other) {
        if (is_of_one(plan_.measure)) {
            const double mass = exact_mass(plan_.measure, other, pairs_);
            return pairs_.part(asked_.weighted, other, divisor(plan_.measure, asked_.mass, mass));
        }
        if (plan_.measure != Measure::cosine) return pairs_.jaccard(asked_.weighted, other);
        return pairs_.cosine(asked_.weighted, other, asked_.square, pairs_.square(other));
    }
    double similarity(const StoredSet& stored) {
        read_.read(stored);
        if (read_.weighted() != plan_.weighted)
            throw std::invalid_argument("the features of a document are not as they were written");
        return plan_.weighted ? similarity(read_.view())
                              : similarity(read_.features(), read_.size());
    }

  private:
    SetPlan plan_;
    const SetKernels& kernels_;
    IndexedSet asked_{nullptr, {nullptr, nullptr, 0}, 0, 0, 0, nullptr, nullptr};
    Limits limits_{Measure::jaccard, false, 1};
    WeightedPairs pairs_;
    ReadSet read_;
};

}  // namespace neardup
