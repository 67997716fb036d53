// One document after the other against the index of lighter ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "overlap.hpp"
#include "pair.hpp"
#include "prefix_index.hpp"

namespace neardup {

// What does not change within a join.
template <bool Weighted>
class PrefixJoin {
  public:
    PrefixJoin(const Collections& documents, Measure measure, double threshold, std::size_t threads)
        : documents_(documents),
          measure_(measure),
          threshold_(threshold),
          limits_(measure, Weighted, threshold),
          ranked_(rank_documents(documents, measure, limits_, threads)),
          rests_(ranked_, limits_, measure == Measure::cosine) {
        const std::size_t left = documents.left.count;
        indices_.reserve(2);
        indices_.emplace_back(ranked_, limits_, rests_, 0, left);
        if (documents.two)
            indices_.emplace_back(ranked_, limits_, rests_, left, left + documents.right.count);
    }

    std::size_t count() const { return ranked_.count(); }

    // Finds the pairs of a document with lighter ones; each thread has its own.
    class Worker {
      public:
        explicit Worker(const PrefixJoin& join) : join_(join), reached_(join.count()) {}

        // The postings that are to be looked at.
        std::uint64_t predict(std::size_t document) {
            std::uint64_t postings = 0;
            each_list(document, [&](std::size_t, const auto& list) {
                postings += static_cast<std::uint64_t>(list.end - list.begin);
            });
            return postings;
        }

        void run(std::size_t document) {
            touched_.clear();
            each_list(document, [&](std::size_t k, const auto& list) {
                for (auto posting = list.begin; posting != list.end; ++posting)
                    look_at(*posting, document, k);
            });
            for (const std::uint32_t other : touched_) {
                const Reached reached = std::exchange(reached_[other], Reached());
                if (reached.given_up) continue;
                ++compared;
                if constexpr (Weighted)
                    compare_weighted(other, document);
                else
                    compare_sets(other, document, reached);
            }
        }

        std::vector<SimilarPair> pairs;
        std::uint64_t compared = 0;

      private:
        // What two documents are known to share, and what is left of the first after that.
        struct SetReached {
            std::uint32_t shared = 0, rest = 0, other_rest = 0;
            bool given_up = false;
        };
        struct WeightedReached {
            double shared = 0;
            bool given_up = false;
        };
        using Reached = std::conditional_t<Weighted, WeightedReached, SetReached>;
        using Posting = typename PrefixIndex<Weighted>::Posting;

        template <typename Take>
        void each_list(std::size_t document, const Take& take) {
            const RankedDocuments& ranked = join_.ranked_;
            const bool left = ranked.places[document] < join_.documents_.left.count;
            const PrefixIndex<Weighted>& index = join_.indices_[join_.documents_.two && left];
            const auto first = static_cast<std::size_t>(
                std::lower_bound(ranked.masses.begin(), ranked.masses.begin() + document,
                                 join_.limits_.least_size(ranked.masses[document])) -
                ranked.masses.begin());
            const std::size_t needed = prefix(document);
            for (std::size_t k = 0; k < needed; ++k)
                take(k, index.list(ranked.begin(document)[k], first, document));
        }

        std::size_t prefix(std::size_t document) {
            if constexpr (Weighted)
                return join_.rests_.run(
                    document, join_.limits_.probe(join_.rests_.whole(document)), rests_);
            else
                return needed_of_set(join_.ranked_.size(document),
                                     join_.limits_.probe(join_.ranked_.masses[document]));
        }

        double required(std::size_t a, std::size_t b) const {
            return join_.limits_.required(join_.ranked_.masses[a], join_.ranked_.masses[b]);
        }

        // Both have feature k of `document`: what they share so far and what is left must be enough.
        void look_at(const Posting& posting, std::size_t document, std::size_t k) {
            Reached& reached = reached_[posting.document];
            if (reached.given_up) return;
            const bool first = reached.shared == 0;
            double possible;
            if constexpr (Weighted) {
                const double weight = join_.ranked_.weights.data()[join_.ranked_.starts[document] + k];
                reached.shared += join_.measure_ == Measure::cosine
                                      ? weight * posting.weight
                                      : std::min(weight, posting.weight);
                possible = reached.shared + join_.rests_.most(posting.rest, rests_[k]);
            } else {
                ++reached.shared;
                reached.rest = posting.rest;
                reached.other_rest = static_cast<std::uint32_t>(join_.ranked_.size(document) - k - 1);
                possible = reached.shared + std::min(reached.rest, reached.other_rest);
            }
            const bool enough = possible >= required(posting.document, document);
            if (first && enough) touched_.push_back(posting.document);
            reached.given_up = !first && !enough;
            if (first && !enough) reached.shared = 0;
        }

        void compare_sets(std::size_t a, std::size_t b, const Reached& reached) {
            const RankedDocuments& ranked = join_.ranked_;
            const std::uint32_t *a_end = ranked.end(a), *b_end = ranked.end(b);
            TwoLists<std::uint32_t> rest{a_end - reached.rest, a_end, b_end - reached.other_rest,
                                         b_end};
            std::size_t shared = reached.shared;
            const double needed = required(a, b);
            constexpr std::size_t kSteps = 32;
            for (std::size_t safe = rest.safe_steps(); safe != 0; safe = rest.safe_steps()) {
                if (static_cast<double>(shared + safe) < needed) return;
                for (std::size_t steps = std::min(safe, kSteps); steps != 0; --steps)
                    shared += rest.step();
            }
            take(a, b,
                 set_similarity(join_.measure_, shared, static_cast<std::size_t>(ranked.masses[a]),
                                static_cast<std::size_t>(ranked.masses[b])));
        }

        void compare_weighted(std::size_t a, std::size_t b) {
            const RankedDocuments& ranked = join_.ranked_;
            const bool cosine = join_.measure_ == Measure::cosine;
            const double *p = ranked.weights.data() + ranked.starts[a],
                         *q = ranked.weights.data() + ranked.starts[b];
            TwoLists<std::uint32_t> rest{ranked.begin(a), ranked.end(a), ranked.begin(b),
                                         ranked.end(b)};
            double shared = 0;
            while (rest.safe_steps() != 0) {
                const double x = p[rest.a - ranked.begin(a)], y = q[rest.b - ranked.begin(b)];
                const double both = cosine ? x * y : std::min(x, y);
                shared += rest.step() != 0 ? both : 0;
            }
            if (shared < required(a, b)) return;
            if (ranked.places[a] > ranked.places[b]) std::swap(a, b);
            const DocumentView x = view_of(join_.documents_, ranked.places[a]),
                               y = view_of(join_.documents_, ranked.places[b]);
            take(a, b, cosine ? exact_.cosine(x, y, ranked.masses[a], ranked.masses[b])
                              : exact_.jaccard(x, y));
        }

        void take(std::size_t a, std::size_t b, double similarity) {
            if (similarity < join_.threshold_) return;
            std::uint64_t x = join_.ranked_.places[a], y = join_.ranked_.places[b];
            if (x > y) std::swap(x, y);
            if (join_.documents_.two) y -= join_.documents_.left.count;
            pairs.push_back({x << 32 | y, similarity});
        }

        const PrefixJoin& join_;
        std::vector<Reached> reached_;
        std::vector<std::uint32_t> touched_;
        std::vector<double> rests_;
        WeightedPairs exact_;
    };

  private:
    const Collections& documents_;
    const Measure measure_;
    const double threshold_;
    const Limits limits_;
    const RankedDocuments ranked_;
    const Rests rests_;
    std::vector<PrefixIndex<Weighted>> indices_;  // of all documents, or of each side
};

}  // namespace neardup
