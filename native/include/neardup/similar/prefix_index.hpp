// Which documents have a feature among their rarest ones.
//
// Similar documents share a feature that is among the rarest of both: all after those are too
// light to reach the threshold alone (Chaudhuri et al. 2006; Bayardo et al. 2007, AllPairs; Xiao et
// al. 2008, PPJoin). The lighter document of a pair is the one that the index has to know, so that
// fewer of its features are enough.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "ranked.hpp"

namespace neardup {

// `rest` is what comes after the feature: a number of features, or as in RankedDocuments.
struct SetPosting {
    std::uint32_t document, rest;
};
struct WeightedPosting {
    std::uint32_t document;
    float rest;
    double weight;
};

// How many of the first features of a set are needed, where fewer than `least` are not enough.
inline std::size_t needed_of_set(std::size_t size, double least) {
    const auto light = static_cast<std::size_t>(std::max(std::ceil(least) - 1, 0.0));
    return size > light ? size - light : 0;
}

// The same for weights: the first features after which the rest is less than `least`.
inline std::size_t needed_of_weighted(const RankedDocuments& documents, std::size_t i,
                                      const Limits& limits, double least) {
    const float* rests = documents.rests.data() + documents.starts[i];
    const std::size_t size = documents.size(i);
    if (size == 0) return 0;
    const double whole = limits.mass(rests[0]) + limits.mass(documents.weights_of(i)[0]);
    if (whole < least) return 0;
    const float* last = std::partition_point(
        rests, rests + size, [&](float rest) { return limits.mass(rest) >= least; });
    return std::min(static_cast<std::size_t>(last - rests) + 1, size);
}

template <bool Weighted>
class PrefixIndex {
  public:
    using Posting = std::conditional_t<Weighted, WeightedPosting, SetPosting>;

    // Of the documents whose places are [first, last).
    PrefixIndex(const RankedDocuments& documents, const Limits& limits, std::size_t first,
                std::size_t last)
        : starts_(documents.feature_count + 1) {
        const auto needed = [&](std::size_t i) -> std::size_t {
            if (documents.places[i] < first || documents.places[i] >= last) return 0;
            return needed_of(documents, i, limits);
        };
        for (std::size_t i = 0; i < documents.count(); ++i) {
            const std::size_t count = needed(i);
            for (std::size_t k = 0; k < count; ++k) ++starts_[documents.begin(i)[k]];
        }
        std::size_t sum = 0;
        for (std::size_t& start : starts_) start = sum += start;
        Posting* postings = postings_.at_least(sum + 1);
        // From the last to the first, so that the ends become the starts.
        for (std::size_t i = documents.count(); i-- != 0;) {
            const std::size_t count = needed(i);
            const auto document = static_cast<std::uint32_t>(i);
            for (std::size_t k = 0; k < count; ++k) {
                Posting& posting = postings[--starts_[documents.begin(i)[k]]];
                if constexpr (Weighted)
                    posting = {document, documents.rests_of(i)[k], documents.weights_of(i)[k]};
                else
                    posting = {document, static_cast<std::uint32_t>(documents.size(i) - k - 1)};
            }
        }
    }

    // How many of its first features the index has of a document.
    static std::size_t needed_of(const RankedDocuments& documents, std::size_t i,
                                 const Limits& limits) {
        if constexpr (Weighted)
            return needed_of_weighted(documents, i, limits, limits.index(documents.whole(i)));
        else
            return needed_of_set(documents.size(i), limits.index(documents.whole(i)));
    }

    struct List {
        const Posting *begin, *end;
    };

    // The postings of a feature by documents [first, last), which ascend.
    List list(std::uint32_t feature, std::size_t first, std::size_t last) const {
        const Posting *begin = postings_.data() + starts_[feature],
                      *end = postings_.data() + starts_[feature + 1];
        const auto before = [](const Posting& posting, std::size_t document) {
            return posting.document < document;
        };
        if (begin != end && begin->document < first)
            begin = std::lower_bound(begin, end, first, before);
        if (begin != end && end[-1].document >= last)
            end = std::lower_bound(begin, end, last, before);
        return {begin, end};
    }

  private:
    std::vector<std::size_t> starts_;
    Room<Posting> postings_;
};

}  // namespace neardup
