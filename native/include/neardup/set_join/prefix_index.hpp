// The inverted index of the rarest features of each document.
//
// Similar documents share a feature that is among the rarest of both: all after those are too
// light to reach the threshold alone (Chaudhuri et al. 2006; Bayardo et al. 2007, AllPairs; Xiao et
// al. 2008, PPJoin). The lighter document of a pair is the one that the index has to know, so that
// fewer of its features are enough.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "neardup/set_join/ranked.hpp"

namespace neardup {

struct SetPosting {
    std::uint32_t document;
    Rest<false> rest;
};
struct WeightedPosting {
    std::uint32_t document;
    Rest<true> rest;
    double weight;
};

template <bool Weighted>
class PrefixIndex {
  public:
    using Posting = std::conditional_t<Weighted, WeightedPosting, SetPosting>;

    // Of the documents whose places are [first, last).
    PrefixIndex(const RankedDocuments& documents, const Limits& limits, std::size_t first,
                std::size_t last)
        : prefixes_(documents.count()), starts_(documents.feature_count + 1) {
        for (std::size_t i = 0; i < documents.count(); ++i) {
            if (documents.places[i] < first || documents.places[i] >= last) continue;
            const double least = limits.index(documents.whole(i));
            const std::size_t needed = needed_of<Weighted>(documents, i, limits, least);
            if (needed == 0) continue;
            prefixes_[i] = {static_cast<std::uint32_t>(needed), documents.begin(i)[needed - 1],
                            rest_of<Weighted>(documents, i, needed - 1)};
            for (std::size_t k = 0; k < needed; ++k) ++starts_[documents.begin(i)[k]];
        }
        std::size_t sum = 0;
        for (std::size_t& start : starts_) start = sum += start;
        Posting* postings = postings_.at_least(sum + 1);
        // From the last to the first, so that the ends become the starts.
        for (std::size_t i = documents.count(); i-- != 0;) {
            const auto document = static_cast<std::uint32_t>(i);
            for (std::size_t k = 0; k < prefixes_[i].size; ++k) {
                Posting& posting = postings[--starts_[documents.begin(i)[k]]];
                posting.document = document;
                posting.rest = rest_of<Weighted>(documents, i, k);
                if constexpr (Weighted) posting.weight = documents.weights_of(i)[k];
            }
        }
    }

    // The first features of a document, which the index has: how many, the last one, and its rest.
    struct Prefix {
        std::uint32_t size, last;
        Rest<Weighted> rest;
    };
    const Prefix& prefix(std::size_t document) const { return prefixes_[document]; }

    // Load the places of the lists of some features, then the beginnings of these lists.
    void prefetch(const std::uint32_t* features, std::size_t count) const {
        for (std::size_t k = 0; k < count; ++k) __builtin_prefetch(&starts_[features[k]]);
        for (std::size_t k = 0; k < count; ++k)
            __builtin_prefetch(postings_.data() + starts_[features[k]]);
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
    std::vector<Prefix> prefixes_;
    std::vector<std::size_t> starts_;
    Room<Posting> postings_;
};

}  // namespace neardup
