// Looks documents up in the index of a star join; each thread has its own.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "neardup/set_join/overlap.hpp"
#include "neardup/set_join/star_index.hpp"

namespace neardup {

// The most similar kept document, of several the one kept first. One that is known beforehand has
// a similarity but no number, and was kept before all of the index.
struct Nearest {
    static constexpr std::uint32_t kNone = 0xFFFFFFFF;

    double threshold;
    double similarity = 0;
    std::uint32_t document = kNone;

    // Less similar ones are of no interest.
    double least() const { return std::max(threshold, similarity); }

    void take(std::uint32_t number, double found) {
        if (found < threshold || found < similarity) return;
        if (found > similarity || (document != kNone && number < document)) document = number;
        similarity = found;
    }
};

// All similar kept documents.
struct Every {
    double threshold;
    std::vector<std::pair<std::uint32_t, double>>& found;

    double least() const { return threshold; }

    void take(std::uint32_t number, double similarity) {
        if (similarity >= threshold) found.emplace_back(number, similarity);
    }
};

template <bool Weighted>
class StarWorker {
  public:
    explicit StarWorker(StarIndex<Weighted>& index)
        : index_(index),
          reader_(index.stored),
          others_(index.stored),
          chooser_(index.counts),
          limits_(index.limits),
          asked_limits_(index.limits),
          kernels_(set_kernels_for("auto")) {}

    // Read documents, whose places the probes have, and choose the features to look them up by.
    void prepare(Probe* const* probes, std::size_t count) {
        views_.clear();
        for (std::size_t i = 0; i < count; ++i) {
            Probe& probe = *probes[i];
            probe.document = reader_.read(probe.place);
            if (!reader_.in_memory(probe.place)) own_features(probe);
            views_.push_back(probe.document);
        }
        if constexpr (Weighted)
            chooser_.look_up(views_.data(), count);
        else
            chooser_.look_up_sets(views_.data(), count, index_.limits);
        for (std::size_t i = 0; i < count; ++i) choose_prefix(*probes[i], i);
    }

    void prepare(Probe& probe) {
        Probe* one = &probe;
        prepare(&one, 1);
    }

    // Give the similar documents of the index to `wanted`.
    template <typename Wanted>
    void search(const Probe& probe, Wanted& wanted) {
        find_lists(probe, index_.lists, wanted.least());
        if (lists_.empty()) return;
        if constexpr (!Weighted)
            if (!limits_.of_any_size() && scan_is_cheaper(probe)) {
                scan(probe, wanted);
                return;
            }
        if (reached_.size() < index_.kept.size())
            reached_.resize(index_.kept.size() + index_.kept.size() / 4 + 64);
        collect(probe, Nearest::kNone);
        each_reached([&](std::uint32_t number, std::uint16_t count) {
            if (can_share(probe, index_.kept[number].mass, count, wanted.least()))
                compare(probe, number, wanted);
        });
    }

    // The same in the lists of a block of documents, of which the first `before` count.
    template <typename Wanted>
    void search_block(const Probe& probe, const StarLists& lists, const Probe* block,
                      std::size_t before, Wanted& wanted) {
        find_lists(probe, lists, wanted.least());
        if (lists_.empty()) return;
        if (reached_.size() < before) reached_.resize(before);
        collect(probe, static_cast<std::uint32_t>(before));
        each_reached([&](std::uint32_t number, std::uint16_t count) {
            if (can_share(probe, block[number].mass, count, wanted.least()))
                compare_in_block(probe, block[number], number, wanted);
        });
    }

    std::uint64_t compared = 0;

  private:
    static constexpr std::uint16_t kMany = 0xFFFF;

    struct FoundList {
        PostingLists::List list;
        std::size_t feature;  // its place in the prefix
        bool further;         // it has the documents of which the feature is a further one
    };

    // The keys that postings of a feature must have, and the least `most` of them.
    struct Range {
        std::uint16_t least, most, own;
    };

    void choose_prefix(Probe& probe, std::size_t number) {
        const DocumentView& document = probe.document;
        const Limits& limits = index_.limits;
        if constexpr (Weighted) {
            probe.mass = 0;
            if (index_.measure == Measure::cosine || limits.of_any_size())
                probe.mass = exact_mass(index_.measure, document, exact_);
            else
                for (std::size_t i = 0; i < document.size; ++i) probe.mass += document.weights[i];
            probe.whole = index_.by_length() && probe.mass > 0 ? 1 : probe.mass;
            const double unit = index_.by_length() ? probe.mass : 1;
            probe.prefix.features.clear();
            probe.prefix.parts.clear();
            if (probe.mass > 0 && limits.of_any_size())
                chooser_.choose_all(document, number, probe.prefix);
            else if (probe.mass > 0)
                chooser_.choose(document, number, limits, probe.whole, unit,
                                limits.probe(probe.whole), probe.prefix);
        } else {
            probe.mass = probe.whole = static_cast<double>(document.size);
            chooser_.choose(document, number, limits, probe.prefix);
            if (!probe.prefix.features.empty()) probe.parity.set(document.hashes, document.size);
        }
    }

    void own_features(Probe& probe) {
        const DocumentView& read = probe.document;
        probe.hashes.assign(read.hashes, read.hashes + read.size);
        if (Weighted) probe.weights.assign(read.weights, read.weights + read.size);
        probe.document = {probe.hashes.data(), Weighted ? probe.weights.data() : nullptr,
                          read.size};
    }

    void set_least(double least) {
        if (least == least_) return;
        least_ = least;
        limits_ = Limits(index_.measure, Weighted, least);
    }

    // Further features of documents that are lighter are not needed.
    Range range(const Probe& probe, std::size_t feature, bool further) const {
        const double part = probe.prefix.parts[feature];
        if (index_.by_length())
            return {star_key<Weighted>(limits_.required(1, 1) / std::sqrt(part)), kLargestKey, 0};
        const std::uint16_t own = star_key<Weighted>(probe.mass);
        return {further ? own : star_key<Weighted>(limits_.least_size(probe.mass)),
                star_key<Weighted>(limits_.heaviest_partner(probe.mass, part)), own};
    }

    // The lists of the features that are needed, where they are not empty.
    void find_lists(const Probe& probe, const StarLists& all, double least) {
        constexpr std::size_t kAhead = 16;
        set_least(least);
        asked_limits_ = limits_;
        lists_.clear();
        postings_ = 0;
        const std::vector<std::uint64_t>& features = probe.prefix.features;
        const auto find = [&](std::size_t needed, bool further) {
            const PostingLists& lists = further ? all.further : all.first;
            for (std::size_t k = 0; k < std::min(kAhead, needed); ++k) lists.prefetch(features[k]);
            for (std::size_t k = 0; k < needed; ++k) {
                if (k + kAhead < needed) lists.prefetch(features[k + kAhead]);
                const PostingLists::List list = lists.list(features[k]);
                if (list.size() == 0) continue;
                __builtin_prefetch(list.begin);
                lists_.push_back({list, k, further});
                postings_ += list.size();
            }
        };
        find(probe.prefix.needed(limits_.asked(probe.whole)), false);
        if (limits_.of_any_size()) find(index_.first_features(probe, limits_), true);
    }

    // The documents of those lists, with numbers below `before`, that can still be similar enough.
    void collect(const Probe& probe, std::uint32_t before) {
        constexpr std::size_t kFew = 8;
        // A feature that is too late to be the first that two have in common is one more of them.
        const bool counts_late = limits_.of_any_size();
        for (const auto& [all, feature, further] : lists_) {
            const Range keys = range(probe, feature, further);
            const PostingLists::List list =
                all.size() > kFew && !further ? all.between(keys.least, keys.most) : all;
            for (const StarPosting* posting = list.begin; posting != list.end; ++posting) {
                const bool is_late = posting->most < keys.own;
                if (posting->key < keys.least || posting->key > keys.most ||
                    posting->document >= before || (is_late && !counts_late))
                    continue;
                std::uint16_t& count = reached_[posting->document];
                if (count == 0) {
                    if (is_late) continue;
                    touched_.push_back(posting->document);
                }
                count += count != kMany;
            }
        }
    }

    // Call visit(number, count) for what `collect` has found.
    template <typename Visit>
    void each_reached(const Visit& visit) {
        // Those with the most features in common first: a close match spares the others.
        constexpr std::size_t kFirst = 16;
        const auto closer = [&](std::uint32_t x, std::uint32_t y) {
            return reached_[x] != reached_[y] ? reached_[x] > reached_[y] : x < y;
        };
        const auto first =
            touched_.begin() + static_cast<std::ptrdiff_t>(std::min(kFirst, touched_.size()));
        std::partial_sort(touched_.begin(), first, touched_.end(), closer);
        for (const std::uint32_t number : touched_) {
            visit(number, std::exchange(reached_[number], std::uint16_t{0}));
        }
        touched_.clear();
    }

    // Whether a set with which so many features were found in common can be similar enough. The
    // others that they share were not looked up, because they come after the first features of one
    // of the two: alone they would be too few to be looked for.
    bool can_share(const Probe& probe, double mass, std::uint16_t count, double least) {
        if (Weighted || !limits_.of_any_size() || count == kMany) return true;
        set_least(least);
        return count + asked_limits_.required(probe.mass, mass) >=
               limits_.required(probe.mass, mass);
    }

    template <typename Wanted>
    void compare(const Probe& probe, std::uint32_t number, Wanted& wanted) {
        const KeptDocument& kept = index_.kept[number];
        set_least(wanted.least());
        const double needed = limits_.required(probe.mass, kept.mass);
        if (!index_.by_length() && std::min(probe.mass, kept.mass) < needed) return;
        if constexpr (!Weighted) {
            SizeClass& its = index_.class_of(kept.mass);
            const int log = std::min(its.log, probe.parity.log());
            if (!near(probe, kept.mass, its.row(kept.slot), its.log, log, needed)) return;
        }
        take(probe, {number, kept.place, kept.mass, others_.read(kept.place)}, needed, wanted);
    }

    template <typename Wanted>
    void compare_in_block(const Probe& probe, const Probe& other, std::uint32_t number,
                          Wanted& wanted) {
        set_least(wanted.least());
        const double needed = limits_.required(probe.mass, other.mass);
        if (!index_.by_length() && std::min(probe.mass, other.mass) < needed) return;
        if constexpr (!Weighted) {
            const int log = std::min(other.parity.log(), probe.parity.log());
            if (!near(probe, other.mass, other.parity.of_log(log), log, log, needed)) return;
        }
        take(probe, {number, other.place, other.mass, other.document}, needed, wanted);
    }

    // Whether the bitmaps, compared in 2^log words, leave room for what must be shared.
    bool near(const Probe& probe, double other_mass, const std::uint64_t* row, int row_log, int log,
              double needed) const {
        std::uint32_t distance;
        kernels_.parity_distances(probe.parity.of_log(log), std::size_t{1} << log, row,
                                  std::size_t{1} << row_log, 1, &distance);
        return probe.mass + other_mass - distance >= 2 * needed;
    }

    struct Other {
        std::uint32_t number;
        std::size_t place;
        double mass;
        DocumentView document;
    };

    template <typename Wanted>
    void take(const Probe& probe, const Other& other, double needed, Wanted& wanted) {
        ++compared;
        if constexpr (!Weighted) {
            const DocumentView &a = probe.document, &b = other.document;
            const std::size_t shared =
                limits_.of_any_size() ? shared_if_enough(a.hashes, a.size, b.hashes, b.size, needed)
                                      : shared_count(a.hashes, a.size, b.hashes, b.size);
            wanted.take(other.number, set_similarity(index_.measure, shared, probe.document.size,
                                                     other.document.size));
        } else {
            if (!may_share(probe, other.document, other.mass, needed)) return;
            if (limits_.of_any_size()) {
                const double mass = divisor(index_.measure, probe.mass, other.mass);
                wanted.take(other.number, exact_.part(probe.document, other.document, mass));
                return;
            }
            // In the order of their places, on which the last bit can depend.
            const bool turned = other.place < probe.place;
            const DocumentView &a = turned ? other.document : probe.document,
                               &b = turned ? probe.document : other.document;
            wanted.take(other.number, index_.measure == Measure::cosine
                                          ? exact_.cosine(a, b, turned ? other.mass : probe.mass,
                                                          turned ? probe.mass : other.mass)
                                          : exact_.jaccard(a, b));
        }
    }

    // Whether two documents share as much mass as is needed, rounding aside. Stops as soon as what
    // is left is not enough.
    bool may_share(const Probe& probe, const DocumentView& other, double other_mass,
                   double needed) const {
        constexpr std::size_t kSteps = 32;
        const bool cosine = index_.measure == Measure::cosine;
        const double scale = cosine ? std::sqrt(probe.mass) * std::sqrt(other_mass) : 1;
        const double *p = probe.document.weights, *q = other.weights;
        Merge<std::uint64_t> merge{
            probe.document.hashes, other.hashes, 0, probe.document.size, 0, other.size};
        double shared = 0, left_here = probe.mass, left_there = other_mass;
        while (!merge.done()) {
            const double rest =
                cosine ? std::sqrt(std::max(left_here, 0.0)) * std::sqrt(std::max(left_there, 0.0))
                       : std::min(left_here, left_there);
            // The rests are sums of differences; what rounding takes from them is far below this.
            if (shared + rest < needed * scale * (1 - 1e-6)) return false;
            for (std::size_t step = 0; step < kSteps && !merge.done(); ++step) {
                const double x = p[merge.i], y = q[merge.j];
                const std::size_t i = merge.i, j = merge.j;
                const bool both = merge.step() != 0;
                shared += both ? limits_.both(x, y) : 0;
                left_here -= merge.i != i ? limits_.mass(x) : 0;
                left_there -= merge.j != j ? limits_.mass(y) : 0;
            }
        }
        return shared >= needed * scale * (1 - 1e-6);
    }

    // Whether the bitmaps of all kept sets of a fitting size are read sooner than the lists.
    bool scan_is_cheaper(const Probe& probe) const {
        // Nanoseconds, as measured: to read a posting, to look at what it leads to, and to compare
        // a bitmap and a word of it.
        constexpr double kPosting = 4, kReached = 30, kRow = 4, kWord = 0.5;
        constexpr std::size_t kFew = 4000;
        if (postings_ <= kFew) return false;
        std::size_t postings = 0;
        for (const auto& [list, feature, further] : lists_) {
            const Range keys = range(probe, feature, further);
            postings += list.between(keys.least, keys.most).size();
        }
        double seconds = 0, documents = 0;
        each_class(probe, [&](const SizeClass& one) {
            const auto count = static_cast<double>(one.documents.size());
            const auto words =
                static_cast<double>(std::size_t{1} << std::min(one.log, probe.parity.log()));
            documents += count;
            seconds += count * (kRow + kWord * words);
        });
        const auto read = static_cast<double>(postings);
        return seconds < kPosting * read + kReached * std::min(read, documents);
    }

    template <typename Visit>
    void each_class(const Probe& probe, const Visit& visit) const {
        const Range keys = range(probe, 0, false);
        for (std::size_t i = keys.least >> SizeClass::kKeyBits;
             i <= keys.most >> SizeClass::kKeyBits; ++i)
            if (!index_.classes[i].documents.empty()) visit(index_.classes[i]);
    }

    template <typename Wanted>
    void scan(const Probe& probe, Wanted& wanted) {
        near_.clear();
        each_class(probe, [&](SizeClass& one) {
            const int log = std::min(one.log, probe.parity.log());
            const std::size_t count = one.documents.size();
            distances_.resize(count);
            kernels_.parity_distances(probe.parity.of_log(log), std::size_t{1} << log, one.row(0),
                                      std::size_t{1} << one.log, count, distances_.data());
            for (std::size_t i = 0; i < count; ++i) {
                const double size = one.sizes[i];
                if (probe.mass + size - distances_[i] >= 2 * limits_.required(probe.mass, size))
                    near_.emplace_back(distances_[i], one.documents[i]);
            }
        });
        std::sort(near_.begin(), near_.end());
        for (const auto& [distance, number] : near_) {
            set_least(wanted.least());
            const KeptDocument& kept = index_.kept[number];
            const double needed = limits_.required(probe.mass, kept.mass);
            if (probe.mass + kept.mass - distance >= 2 * needed)
                take(probe, {number, kept.place, kept.mass, others_.read(kept.place)}, needed,
                     wanted);
        }
    }

    StarIndex<Weighted>& index_;
    FeatureReader reader_, others_;
    PrefixChooser chooser_;
    Limits limits_;        // at `least_`
    Limits asked_limits_;  // by which the features to look up were chosen
    double least_ = -1;    // similarity that is still of interest
    const SetKernels& kernels_;
    WeightedPairs exact_;
    std::vector<DocumentView> views_;
    std::vector<FoundList> lists_;        // of a search
    std::size_t postings_ = 0;            // in all of them
    std::vector<std::uint16_t> reached_;  // features in common, by number; 0 between searches
    std::vector<std::uint32_t> touched_;
    std::vector<std::uint32_t> distances_;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> near_;
};

}  // namespace neardup
