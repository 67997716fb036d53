// Joins each document with the index of those before it.
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
          ranked(ranked_for(all, how, limits, threads)) {
        const std::size_t left = all.left.count;
        indices.reserve(2);
        indices.emplace_back(ranked, limits, 0, left);
        // Documents of the right are never included in those of the left.
        if (all.two && !is_directed())
            indices.emplace_back(ranked, limits, left, left + all.right.count);
    }

    static RankedDocuments ranked_for(const Collections& all, Measure how, const Limits& limits,
                                      std::size_t threads) {
        RankedDocuments found = rank_documents(all, how, limits, threads);
        return found.of_length_1 ? in_order_of_prefixes(std::move(found), limits)
                                 : std::move(found);
    }

    // Whether the document in the index is the first one of a pair, by what it shares of itself.
    bool is_directed() const { return measure == Measure::inclusion; }

    const std::uint64_t most_pairs;
    const Collections& documents;
    const Measure measure;
    const double threshold;
    const Limits limits;
    const RankedDocuments ranked;
    std::vector<PrefixIndex<Weighted>> indices;  // of all documents, or of each side
};

// Finds the pairs of a document with those before it; each thread has its own.
template <bool Weighted>
class PrefixWorker {
  public:
    PrefixWorker(const PrefixJoin<Weighted>& join, PairLimit& limit)
        : join_(join),
          ranked_(join.ranked),
          limits_(join.limits),
          shared_(join.ranked.count(), kNothing),
          reached_(join.ranked.count() + 1),
          share_(limit) {}

    // Count the postings to read.
    void predict(std::size_t document) {
        each_list(document, [&](std::size_t, const auto& list) {
            postings += static_cast<std::uint64_t>(list.end - list.begin);
        });
    }

    void run(std::size_t document) {
        std::size_t reached = 0;
        each_list(document, [&](std::size_t k, const auto& list) {
            postings += static_cast<std::uint64_t>(list.end - list.begin);
            reached = look_through(list, document, k, reached);
        });
        constexpr std::size_t kAhead = 8;
        for (std::size_t i = 0; i < reached; ++i) {
            if (i + kAhead < reached) __builtin_prefetch(&index_->prefix(reached_[i + kAhead]));
            const std::uint32_t other = reached_[i];
            compare(other, document, std::exchange(shared_[other], kNothing));
        }
    }

    std::vector<SimilarPair> pairs;
    std::uint64_t postings = 0, compared = 0;

  private:
    // What two documents share: a mass, or a number of features.
    using Shared = std::conditional_t<Weighted, double, std::uint32_t>;
    static constexpr Shared kNothing = Weighted ? Shared(-1) : Shared(0);
    using List = typename PrefixIndex<Weighted>::List;

    // Call take(k, list) with what the index has of feature k of a document and those before it.
    template <typename Take>
    void each_list(std::size_t document, const Take& take) {
        const bool left = ranked_.places[document] < join_.documents.left.count;
        if (join_.is_directed() && join_.documents.two && left) return;
        index_ = &join_.indices[join_.documents.two && left ? 1 : 0];
        needed_ =
            needed_of<Weighted>(ranked_, document, limits_, limits_.probe(ranked_.whole(document)));
        const auto [first, last] = partners_of(document);
        index_->prefetch(ranked_.begin(document), needed_);
        for (std::size_t k = 0; k < needed_; ++k)
            take(k, index_->list(ranked_.begin(document)[k], first, last));
    }

    // The documents that can be in a pair with another one, and that it looks for: those before it,
    // or all that it can include.
    std::pair<std::size_t, std::size_t> partners_of(std::size_t document) const {
        const auto begin = ranked_.masses.begin();
        const auto own = begin + static_cast<std::ptrdiff_t>(document);
        if (join_.is_directed()) {
            const auto last =
                std::upper_bound(own, ranked_.masses.end(), limits_.heaviest_included(*own));
            return {0, static_cast<std::size_t>(last - begin)};
        }
        // The least size is 0 where documents are not in the order of their masses.
        const auto first = std::lower_bound(begin, own, limits_.least_size(*own));
        return {static_cast<std::size_t>(first - begin), document};
    }

    double required(std::size_t a, std::size_t b) const {
        return limits_.required(ranked_.masses[a], ranked_.masses[b]);
    }

    // What documents share at most, of which these rests are still to be compared.
    double possible(Shared shared, Rest<Weighted> a, Rest<Weighted> b) const {
        if constexpr (Weighted)
            return shared + limits_.both(a, b);
        else
            return static_cast<double>(shared + std::min(a, b));
    }

    // All in the list have feature k of `document`. One that has been reached shares more with it;
    // another is reached if that and the rests are enough. If they are not, they never will be: all
    // that two documents share from a later feature on is part of these rests. Nothing of this is a
    // branch, which would be mispredicted every third time.
    std::size_t look_through(const List& list, std::size_t document, std::size_t k,
                             std::size_t reached) {
        const Rest<Weighted> rest = rest_of<Weighted>(ranked_, document, k);
        for (auto posting = list.begin; posting != list.end; ++posting) {
            const std::uint32_t other = posting->document;
            const bool is_new = shared_[other] == kNothing;
            Shared shared = is_new ? 0 : shared_[other];
            if constexpr (Weighted)
                shared += limits_.both(ranked_.weights_of(document)[k], posting->weight);
            else
                ++shared;
            const bool enough = possible(shared, posting->rest, rest) >= required(other, document);
            shared_[other] = is_new && !enough ? kNothing : shared;
            reached_[reached] = other;
            reached += is_new && enough;
        }
        return reached;
    }

    // What two documents share up to the end of the prefix that ends first is known; are the rests
    // behind it enough? Of nearly all pairs they are not, so that this reads little memory.
    void compare(std::size_t other, std::size_t document, Shared shared) {
        if (other == document) return;  // it includes itself
        const auto& prefix = index_->prefix(other);
        const std::uint32_t* const features = ranked_.begin(document);
        std::size_t i = prefix.size, j = needed_;
        Rest<Weighted> rest = prefix.rest;
        if (prefix.last <= features[j - 1]) {
            j = places_up_to(prefix.last, features, j);
        } else {
            i = places_up_to(features[j - 1], ranked_.begin(other), i);
            rest = rest_of<Weighted>(ranked_, other, i - 1);
        }
        const double needed = required(other, document);
        if (possible(shared, rest, rest_of<Weighted>(ranked_, document, j - 1)) < needed) return;
        ++compared;
        Merge<std::uint32_t> merge{ranked_.begin(other), features, i,
                                   ranked_.size(other),  j,        ranked_.size(document)};
        if (!share_enough(other, document, merge, shared, needed)) return;
        if constexpr (Weighted)
            take_weighted(other, document);
        else
            take(other, document,
                 set_similarity(join_.measure, shared,
                                static_cast<std::size_t>(ranked_.masses[other]),
                                static_cast<std::size_t>(ranked_.masses[document])));
    }

    static std::size_t places_up_to(std::uint32_t feature, const std::uint32_t* features,
                                    std::size_t count) {
        return static_cast<std::size_t>(std::upper_bound(features, features + count, feature) -
                                        features);
    }

    // Add what is shared from where a merge stands. False, soon, if it is not as much as needed.
    bool share_enough(std::size_t other, std::size_t document, Merge<std::uint32_t> merge,
                      Shared& shared, double needed) const {
        constexpr std::size_t kSteps = 16;
        for (std::size_t safe = merge.safe_steps(); safe != 0; safe = merge.safe_steps()) {
            if (possible(shared, rest_of<Weighted>(ranked_, other, merge.i - 1),
                         rest_of<Weighted>(ranked_, document, merge.j - 1)) < needed)
                return false;
            for (std::size_t steps = std::min(safe, kSteps); steps != 0; --steps) {
                if constexpr (Weighted) {
                    const double both = limits_.both(ranked_.weights_of(other)[merge.i],
                                                     ranked_.weights_of(document)[merge.j]);
                    shared += merge.step() != 0 ? both : 0;
                } else {
                    shared += static_cast<Shared>(merge.step());
                }
            }
        }
        return static_cast<double>(shared) >= needed;
    }

    void take_weighted(std::size_t other, std::size_t document) {
        if (!join_.is_directed() && ranked_.places[other] > ranked_.places[document])
            std::swap(other, document);
        const DocumentView a = view_of(join_.documents, ranked_.places[other]),
                           b = view_of(join_.documents, ranked_.places[document]);
        const double a_mass = ranked_.masses[other], b_mass = ranked_.masses[document];
        if (is_of_one(join_.measure))
            take(other, document, exact_.part(a, b, divisor(join_.measure, a_mass, b_mass)));
        else if (join_.measure == Measure::cosine)
            take(other, document, exact_.cosine(a, b, a_mass, b_mass));
        else
            take(other, document, exact_.jaccard(a, b));
    }

    void take(std::size_t a, std::size_t b, double similarity) {
        if (similarity < join_.threshold) return;
        std::uint64_t x = ranked_.places[a], y = ranked_.places[b];
        if (x > y && !join_.is_directed()) std::swap(x, y);
        if (join_.documents.two) y -= join_.documents.left.count;
        share_.take_one();
        pairs.push_back({x << 32 | y, similarity});
    }

    const PrefixJoin<Weighted>& join_;
    const RankedDocuments& ranked_;
    const Limits& limits_;
    const PrefixIndex<Weighted>* index_ = nullptr;  // that the present document is looked up in
    std::size_t needed_ = 0;                        // by so many of its features
    std::vector<Shared> shared_;                    // by document; nothing between two runs
    std::vector<std::uint32_t> reached_;            // documents, each once
    PairLimit::Share share_;
    WeightedPairs exact_;
};

}  // namespace neardup
