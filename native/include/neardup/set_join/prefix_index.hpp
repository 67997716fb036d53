// The inverted index of the rarest features of each document.
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

#include "neardup/set_join/ranked.hpp"

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

// How many of the first features of a document are needed, where a rest below `least` is not.
template <bool Weighted>
std::size_t needed_of(const RankedDocuments& documents, std::size_t i, const Limits& limits,
                      double least) {
    const std::size_t size = documents.size(i);
    if constexpr (!Weighted) {
        const auto light = static_cast<std::size_t>(std::max(std::ceil(least) - 1, 0.0));
        return size > light ? size - light : 0;
    } else {
        if (size == 0) return 0;
        const float* rests = documents.rests_of(i);
        const double whole = limits.mass(rests[0]) + limits.mass(documents.weights_of(i)[0]);
        if (whole < least) return 0;
        const float* last = std::partition_point(
            rests, rests + size, [&](float rest) { return limits.mass(rest) >= least; });
        return std::min(static_cast<std::size_t>(last - rests) + 1, size);
    }
}

template <bool Weighted>
class PrefixIndex {
  public:
    using Posting = std::conditional_t<Weighted, WeightedPosting, SetPosting>;

    // Of the documents whose places are [first, last).
    PrefixIndex(const RankedDocuments& documents, const Limits& limits, std::size_t first,
                std::size_t last)
        : needed_(documents.count()), starts_(documents.feature_count + 1) {
        for (std::size_t i = 0; i < documents.count(); ++i) {
            if (documents.places[i] < first || documents.places[i] >= last) continue;
            const double least = limits.index(documents.whole(i));
            needed_[i] =
                static_cast<std::uint32_t>(needed_of<Weighted>(documents, i, limits, least));
            for (std::size_t k = 0; k < needed_[i]; ++k) ++starts_[documents.begin(i)[k]];
        }
        std::size_t sum = 0;
        for (std::size_t& start : starts_) start = sum += start;
        Posting* postings = postings_.at_least(sum + 1);
        // From the last to the first, so that the ends become the starts.
        for (std::size_t i = documents.count(); i-- != 0;) {
            const auto document = static_cast<std::uint32_t>(i);
            for (std::size_t k = 0; k < needed_[i]; ++k) {
                Posting& posting = postings[--starts_[documents.begin(i)[k]]];
                if constexpr (Weighted)
                    posting = {document, documents.rests_of(i)[k], documents.weights_of(i)[k]};
                else
                    posting = {document, static_cast<std::uint32_t>(documents.size(i) - k - 1)};
            }
        }
    }

    // How many of its first features the index has of a document.
    std::size_t needed(std::size_t document) const { return needed_[document]; }

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
    std::vector<std::uint32_t> needed_;
    std::vector<std::size_t> starts_;
    Room<Posting> postings_;
};

}  // namespace neardup
