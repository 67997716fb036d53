// Joins each document with the index of lighter ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "neardup/set_join/overlap.hpp"
#include "neardup/set_join/pair.hpp"
#include "neardup/set_join/prefix_index.hpp"

namespace neardup {

// Constant during a join.
template <bool Weighted>
struct PrefixJoin {
    PrefixJoin(const Collections& all, Measure how, double least, std::size_t threads,
               std::uint64_t most_pairs = kAnyNumber)
        : most_pairs(most_pairs),
          documents(all),
          measure(how),
          threshold(least),
          limits(how, Weighted, least),
          ranked(rank_documents(all, how, limits, threads)) {
        const std::size_t left = all.left.count;
        indices.reserve(2);
        indices.emplace_back(ranked, limits, 0, left);
        if (all.two) indices.emplace_back(ranked, limits, left, left + all.right.count);
    }

    const std::uint64_t most_pairs;
    const Collections& documents;
    const Measure measure;
    const double threshold;
    const Limits limits;
    const RankedDocuments ranked;
    std::vector<PrefixIndex<Weighted>> indices;  // of all documents, or of each side
};

// Finds the pairs of a document with lighter ones; each thread has its own.
template <bool Weighted>
class PrefixWorker {
  public:
    PrefixWorker(const PrefixJoin<Weighted>& join, PairLimit& limit)
        : join_(join),
          ranked_(join.ranked),
          limits_(join.limits),
          reached_(join.ranked.count()),
          share_(limit) {}

    // Count the postings to read.
    void predict(std::size_t document) {
        each_list(document, [&](std::size_t, const auto& list) {
            postings += static_cast<std::uint64_t>(list.end - list.begin);
        });
    }

    void run(std::size_t document) {
        each_list(document, [&](std::size_t k, const auto& list) {
            for (auto posting = list.begin; posting != list.end; ++posting)
                look_at(*posting, document, k);
        });
        for (const std::uint32_t other : touched_) {
            const Reached reached = std::exchange(reached_[other], Reached());
            if (reached.state == kOpen) compare(other, document, reached);
        }
        touched_.clear();
    }

    std::vector<SimilarPair> pairs;
    std::uint64_t postings = 0, compared = 0;

  private:
    enum State : std::uint32_t { kNew, kOpen, kGivenUp };

    // What a lighter document is known to share.
    struct Reached {
        State state = kNew;
        std::conditional_t<Weighted, double, std::uint32_t> shared = 0;
    };
    using Posting = typename PrefixIndex<Weighted>::Posting;

    // Call take(k, list) with what the index has of feature k of a document and lighter ones.
    template <typename Take>
    void each_list(std::size_t document, const Take& take) {
        const bool left = ranked_.places[document] < join_.documents.left.count;
        index_ = &join_.indices[join_.documents.two && left ? 1 : 0];
        needed_ =
            needed_of<Weighted>(ranked_, document, limits_, limits_.probe(ranked_.whole(document)));
        const auto own = ranked_.masses.begin() + static_cast<std::ptrdiff_t>(document);
        const auto first = static_cast<std::size_t>(
            std::lower_bound(ranked_.masses.begin(), own, limits_.least_size(*own)) -
            ranked_.masses.begin());
        for (std::size_t k = 0; k < needed_; ++k)
            take(k, index_->list(ranked_.begin(document)[k], first, document));
    }

    double required(std::size_t a, std::size_t b) const {
        return limits_.required(ranked_.masses[a], ranked_.masses[b]);
    }

    // Both have feature k of `document`: what they share so far and what is left must be enough.
    void look_at(const Posting& posting, std::size_t document, std::size_t k) {
        Reached& reached = reached_[posting.document];
        if (reached.state == kGivenUp) return;
        double possible;
        if constexpr (Weighted) {
            reached.shared += limits_.both(ranked_.weights_of(document)[k], posting.weight);
            possible = reached.shared + limits_.both(posting.rest, ranked_.rests_of(document)[k]);
        } else {
            const std::size_t rest = ranked_.size(document) - k - 1;
            ++reached.shared;
            possible = static_cast<double>(reached.shared +
                                           std::min(static_cast<std::size_t>(posting.rest), rest));
        }
        if (reached.state == kNew) touched_.push_back(posting.document);
        reached.state = possible >= required(posting.document, document) ? kOpen : kGivenUp;
    }

    void compare(std::size_t other, std::size_t document, const Reached& reached) {
        Merge<std::uint32_t> merge = after_prefixes(other, document);
        const double needed = required(other, document);
        double possible;
        if constexpr (Weighted)
            possible = reached.shared + limits_.both(ranked_.rests_of(other)[merge.i - 1],
                                                     ranked_.rests_of(document)[merge.j - 1]);
        else
            possible = static_cast<double>(reached.shared + merge.safe_steps());
        if (possible < needed) return;
        ++compared;
        if constexpr (Weighted)
            compare_weighted(other, document, merge, reached.shared, needed);
        else
            compare_sets(other, document, merge, reached.shared, needed);
    }

    // The features of two documents past their prefixes: what they share up to the last feature of
    // the shorter prefix is already known.
    Merge<std::uint32_t> after_prefixes(std::size_t other, std::size_t document) const {
        const std::uint32_t *a = ranked_.begin(other), *b = ranked_.begin(document);
        std::size_t i = index_->needed(other), j = needed_;
        if (a[i - 1] < b[j - 1])
            j = static_cast<std::size_t>(std::upper_bound(b, b + j, a[i - 1]) - b);
        else
            i = static_cast<std::size_t>(std::upper_bound(a, a + i, b[j - 1]) - a);
        return {a, b, i, ranked_.size(other), j, ranked_.size(document)};
    }

    void compare_sets(std::size_t other, std::size_t document, Merge<std::uint32_t> merge,
                      std::size_t shared, double needed) {
        constexpr std::size_t kSteps = 16;
        for (std::size_t safe = merge.safe_steps(); safe != 0; safe = merge.safe_steps()) {
            if (static_cast<double>(shared + safe) < needed) return;
            for (std::size_t steps = std::min(safe, kSteps); steps != 0; --steps)
                shared += merge.step();
        }
        take(other, document,
             set_similarity(join_.measure, shared, static_cast<std::size_t>(ranked_.masses[other]),
                            static_cast<std::size_t>(ranked_.masses[document])));
    }

    void compare_weighted(std::size_t other, std::size_t document, Merge<std::uint32_t> merge,
                          double shared, double needed) {
        const double *p = ranked_.weights_of(other), *q = ranked_.weights_of(document);
        while (!merge.done()) {
            const double both = limits_.both(p[merge.i], q[merge.j]);
            shared += merge.step() != 0 ? both : 0;
        }
        if (shared < needed) return;
        if (ranked_.places[other] > ranked_.places[document]) std::swap(other, document);
        const DocumentView a = view_of(join_.documents, ranked_.places[other]),
                           b = view_of(join_.documents, ranked_.places[document]);
        take(other, document,
             join_.measure == Measure::cosine
                 ? exact_.cosine(a, b, ranked_.masses[other], ranked_.masses[document])
                 : exact_.jaccard(a, b));
    }

    void take(std::size_t a, std::size_t b, double similarity) {
        if (similarity < join_.threshold) return;
        std::uint64_t x = ranked_.places[a], y = ranked_.places[b];
        if (x > y) std::swap(x, y);
        if (join_.documents.two) y -= join_.documents.left.count;
        share_.take_one();
        pairs.push_back({x << 32 | y, similarity});
    }

    const PrefixJoin<Weighted>& join_;
    const RankedDocuments& ranked_;
    const Limits& limits_;
    const PrefixIndex<Weighted>* index_ = nullptr;  // that the present document is looked up in
    std::size_t needed_ = 0;                        // by so many of its features
    std::vector<Reached> reached_;                  // by document; all new between two runs
    std::vector<std::uint32_t> touched_;
    PairLimit::Share share_;
    WeightedPairs exact_;
};

}  // namespace neardup
