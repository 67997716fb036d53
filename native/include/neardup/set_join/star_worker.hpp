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
          kernels_(set_kernels_for("auto")) {}

    // Read a document and choose the features to look it up by.
    void prepare(std::size_t place, Probe& probe) {
        probe.place = place;
        probe.document = reader_.read(place);
        if (!reader_.in_memory(place)) own_features(probe);
        const DocumentView& document = probe.document;
        const Limits& limits = index_.limits;
        if constexpr (Weighted) {
            probe.mass = probe.whole = 0;
            if (index_.measure == Measure::cosine)
                probe.mass = exact_.square(document);
            else
                for (std::size_t i = 0; i < document.size; ++i) probe.mass += document.weights[i];
            probe.whole = index_.by_length() && probe.mass > 0 ? 1 : probe.mass;
            const double unit = index_.by_length() ? probe.mass : 1;
            probe.prefix = {};
            if (probe.mass > 0)
                chooser_.choose(document, limits, probe.whole, unit, limits.probe(probe.whole),
                                probe.prefix);
        } else {
            probe.mass = probe.whole = static_cast<double>(document.size);
            chooser_.choose(document, limits.probe(probe.mass), probe.prefix);
            if (!probe.prefix.features.empty()) probe.parity.set(document.hashes, document.size);
        }
    }

    // Give the similar documents of the lists to `wanted`. With `all`, the lists are those of all
    // kept documents.
    template <typename Wanted>
    void search(const Probe& probe, const PostingLists& lists, bool all, Wanted& wanted) {
        set_least(wanted.least());
        const std::size_t needed = probe.prefix.needed(limits_.probe(probe.whole));
        if (needed == 0) return;
        if constexpr (!Weighted)
            if (all && scan_is_cheaper(probe, lists, needed)) {
                scan(probe, wanted);
                return;
            }
        collect(probe, lists, needed);
        // Those with the most features in common first: a close match spares the others.
        constexpr std::size_t kFirst = 16;
        const auto closer = [&](std::uint32_t x, std::uint32_t y) {
            return reached_[x] != reached_[y] ? reached_[x] > reached_[y] : x < y;
        };
        const auto first =
            touched_.begin() + static_cast<std::ptrdiff_t>(std::min(kFirst, touched_.size()));
        std::partial_sort(touched_.begin(), first, touched_.end(), closer);
        for (const std::uint32_t number : touched_) {
            reached_[number] = 0;
            compare(probe, number, wanted);
        }
        touched_.clear();
    }

    std::uint64_t compared = 0;

  private:
    // The keys that postings of a feature must have, and the least `most` of them.
    struct Range {
        std::uint16_t least, most, own;
    };

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

    Range range(const Probe& probe, std::size_t k) const {
        const double part = probe.prefix.parts[k];
        if (index_.by_length())
            return {star_key<Weighted>(limits_.required(1, 1) / std::sqrt(part)), kLargestKey, 0};
        return {star_key<Weighted>(limits_.least_size(probe.mass)),
                star_key<Weighted>(limits_.heaviest_partner(probe.mass, part)),
                star_key<Weighted>(probe.mass)};
    }

    // The kept documents that share a feature of the prefix and can still be similar enough.
    void collect(const Probe& probe, const PostingLists& lists, std::size_t needed) {
        constexpr std::size_t kAhead = 8, kFew = 8;
        if (reached_.size() < index_.kept.size())
            reached_.resize(index_.kept.size() + index_.kept.size() / 4 + 64);
        const std::vector<std::uint64_t>& features = probe.prefix.features;
        for (std::size_t k = 0; k < std::min(kAhead, needed); ++k) lists.prefetch(features[k]);
        for (std::size_t k = 0; k < needed; ++k) {
            if (k + kAhead < needed) lists.prefetch(features[k + kAhead]);
            PostingLists::List list = lists.list(features[k]);
            if (list.size() == 0) continue;
            const Range keys = range(probe, k);
            if (list.size() > kFew) list = list.between(keys.least, keys.most);
            for (const StarPosting* posting = list.begin; posting != list.end; ++posting) {
                if (posting->key < keys.least || posting->key > keys.most ||
                    posting->most < keys.own)
                    continue;
                std::uint8_t& count = reached_[posting->document];
                if (count == 0) touched_.push_back(posting->document);
                count += count != 255;
            }
        }
    }

    template <typename Wanted>
    void compare(const Probe& probe, std::uint32_t number, Wanted& wanted) {
        const KeptDocument& kept = index_.kept[number];
        set_least(wanted.least());
        const double needed = limits_.required(probe.mass, kept.mass);
        if constexpr (Weighted) {
            if (!index_.by_length() && std::min(probe.mass, kept.mass) < needed) return;
            compare_weighted(probe, number, needed, wanted);
        } else {
            if (std::min(probe.mass, kept.mass) < needed) return;
            SizeClass& its = index_.class_of(kept.mass);
            const int log = std::min(its.log, probe.parity.log());
            std::uint32_t distance;
            kernels_.parity_distances(probe.parity.of_log(log), std::size_t{1} << log,
                                      its.row(kept.slot), std::size_t{1} << its.log, 1, &distance);
            if (probe.mass + kept.mass - distance >= 2 * needed)
                compare_sets(probe, number, wanted);
        }
    }

    template <typename Wanted>
    void compare_sets(const Probe& probe, std::uint32_t number, Wanted& wanted) {
        ++compared;
        const DocumentView other = others_.read(index_.kept[number].place);
        const std::size_t shared =
            shared_count(probe.document.hashes, probe.document.size, other.hashes, other.size);
        wanted.take(number,
                    set_similarity(index_.measure, shared, probe.document.size, other.size));
    }

    template <typename Wanted>
    void compare_weighted(const Probe& probe, std::uint32_t number, double needed, Wanted& wanted) {
        ++compared;
        const KeptDocument& kept = index_.kept[number];
        const DocumentView other = others_.read(kept.place);
        if (!may_share(probe, other, kept.mass, needed)) return;
        // In the order of their places, on which the last bit can depend.
        const bool turned = kept.place < probe.place;
        const DocumentView &a = turned ? other : probe.document,
                           &b = turned ? probe.document : other;
        wanted.take(number, index_.measure == Measure::cosine
                                ? exact_.cosine(a, b, turned ? kept.mass : probe.mass,
                                                turned ? probe.mass : kept.mass)
                                : exact_.jaccard(a, b));
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
    bool scan_is_cheaper(const Probe& probe, const PostingLists& lists, std::size_t needed) const {
        // Nanoseconds, as measured: to read a posting, to look at what it leads to, and to compare
        // a bitmap and a word of it.
        constexpr double kPosting = 4, kReached = 30, kRow = 4, kWord = 0.5;
        constexpr std::size_t kAhead = 8, kFew = 4000;
        const std::vector<std::uint64_t>& features = probe.prefix.features;
        std::size_t postings = 0;
        for (std::size_t k = 0; k < needed; ++k) {
            if (k + kAhead < needed) lists.prefetch(features[k + kAhead]);
            postings += lists.list(features[k]).size();
        }
        if (postings <= kFew) return false;
        postings = 0;
        for (std::size_t k = 0; k < needed; ++k) {
            const Range keys = range(probe, k);
            postings += lists.list(features[k]).between(keys.least, keys.most).size();
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
        const Range keys = range(probe, 0);
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
            const double size = index_.kept[number].mass;
            if (probe.mass + size - distance >= 2 * limits_.required(probe.mass, size))
                compare_sets(probe, number, wanted);
        }
    }

    StarIndex<Weighted>& index_;
    FeatureReader reader_, others_;
    PrefixChooser chooser_;
    Limits limits_;      // at `least_`
    double least_ = -1;  // similarity that is still of interest
    const SetKernels& kernels_;
    WeightedPairs exact_;
    std::vector<std::uint8_t> reached_;  // features in common, by kept document; 0 between searches
    std::vector<std::uint32_t> touched_;
    std::vector<std::uint32_t> distances_;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> near_;
};

}  // namespace neardup
