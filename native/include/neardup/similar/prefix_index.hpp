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

// `rest` is what comes after the feature in the document: a number of features or, for weights,
// what they can add at most to what is shared.
struct SetPosting {
    std::uint32_t document, rest;
};
struct WeightedPosting {
    std::uint32_t document;
    double weight, rest;
};

// The suffixes of weighted documents, as what they can add to what is shared.
class Rests {
  public:
    Rests(const RankedDocuments& documents, const Limits& limits, bool cosine)
        : documents_(documents), limits_(limits), cosine_(cosine) {}

    // The mass of a document; of a cosine, weights are those of documents of length 1.
    double whole(std::size_t document) const { return cosine_ ? 1 : documents_.masses[document]; }

    // How many of the first features of a document are needed, where a suffix lighter than `least`
    // is not; `rests[k]` is what comes after feature k.
    std::size_t run(std::size_t document, double least, std::vector<double>& rests) const {
        const double* weights = documents_.weights.data() + documents_.starts[document];
        std::size_t left = documents_.size(document);
        rests.resize(left);
        double mass = 0;
        std::size_t needed = 0;
        for (; left != 0; --left) {
            rests[left - 1] = cosine_ ? std::sqrt(mass) : mass;
            mass += limits_.mass(weights[left - 1]);
            if (mass >= least && needed == 0) needed = left;
        }
        return needed;
    }

    // What two suffixes can share at most.
    double most(double a, double b) const { return cosine_ ? a * b : std::min(a, b); }

  private:
    const RankedDocuments& documents_;
    const Limits& limits_;
    bool cosine_;
};

// How many of the first features of a set are needed, where fewer than `least` are not enough.
inline std::size_t needed_of_set(std::size_t size, double least) {
    const double light = std::ceil(least) - 1;
    const auto suffix = static_cast<std::size_t>(std::max(light, 0.0));
    return size > suffix ? size - suffix : 0;
}

template <bool Weighted>
class PrefixIndex {
  public:
    using Posting = std::conditional_t<Weighted, WeightedPosting, SetPosting>;

    // Of the documents whose places are [first, last).
    PrefixIndex(const RankedDocuments& documents, const Limits& limits, const Rests& rests,
                std::size_t first, std::size_t last)
        : starts_(documents.feature_count + 1) {
        std::vector<double> room;
        const auto needed = [&](std::size_t i) -> std::size_t {
            if (documents.places[i] < first || documents.places[i] >= last) return 0;
            if constexpr (Weighted)
                return rests.run(i, limits.index(rests.whole(i)), room);
            else
                return needed_of_set(documents.size(i), limits.index(documents.masses[i]));
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
            for (std::size_t k = 0; k < count; ++k) {
                Posting& posting = postings[--starts_[documents.begin(i)[k]]];
                const auto document = static_cast<std::uint32_t>(i);
                if constexpr (Weighted)
                    posting = {document, documents.weights.data()[documents.starts[i] + k], room[k]};
                else
                    posting = {document, static_cast<std::uint32_t>(documents.size(i) - k - 1)};
            }
        }
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
