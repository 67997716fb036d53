// The features by which a document is found: the rarest ones, so many that the rest is too light.
//
// Features are ordered by the number of documents that have them, then by hash. Similar documents
// share one that is in the prefix of both (see prefix_index.hpp).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "neardup/set_join/document_counts.hpp"
#include "neardup/set_join/limits.hpp"
#include "neardup/set_join/pair.hpp"

namespace neardup {

// The features of a prefix that other documents may have, in order; all where documents can be
// similar to far heavier ones. Without any, the document is similar to none.
struct StarPrefix {
    std::vector<std::uint64_t> features;
    std::vector<double> parts;  // for each, the mass of it and all after it

    // How many of them are needed where a part lighter than `least` is not.
    std::size_t needed(double least) const {
        const auto heavy = [&](double part) { return part >= least; };
        return static_cast<std::size_t>(std::partition_point(parts.begin(), parts.end(), heavy) -
                                        parts.begin());
    }
};

// Chooses the prefixes of some documents at a time; each thread has its own. Each lookup of a count
// misses the cache, so they overlap from one document to the next.
class PrefixChooser {
  public:
    explicit PrefixChooser(const DocumentCounts& counts) : counts_(counts) {}

    // Look up the counts of documents, whose prefixes are chosen next.
    void look_up(const DocumentView* documents, std::size_t count) {
        lay_out(documents, count);
        for (std::size_t i = 0; i < count; ++i) add_run(documents[i], i, 0, documents[i].size);
        count_runs();
    }

    // The same for sets. One of which so many features are alone that the others cannot make a pair
    // needs no more lookups; often these are nearly all sets.
    void look_up_sets(const DocumentView* documents, std::size_t count, const Limits& limits) {
        lay_out(documents, count);
        const auto at_first = [&](std::size_t size) {
            const std::size_t heavy = heavy_features(size, limits);
            return std::min(size, heavy + heavy / 2 + heavy / 4);
        };
        for (std::size_t i = 0; i < count; ++i)
            add_run(documents[i], i, 0, at_first(documents[i].size));
        count_runs();
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t size = documents[i].size, first = at_first(size);
            std::fill_n(count_of_.data() + starts_[i] + first, size - first, kUnknown);
            if (alone(i, first) < heavy_features(size, limits))
                add_run(documents[i], i, first, size);
        }
        count_runs();
    }

    // The prefix of a set; `number` is its place in the last `look_up_sets`.
    void choose(const DocumentView& document, std::size_t number, const Limits& limits,
                StarPrefix& prefix) const {
        const std::uint8_t* count_of = count_of_.data() + starts_[number];
        const std::size_t heavy = heavy_features(document.size, limits),
                          ignored = alone(number, document.size);
        prefix.features.clear();
        prefix.parts.clear();
        if (ignored >= heavy) return;
        std::array<std::uint32_t, DocumentCounts::kCounts> start{};
        for (std::size_t i = 0; i < document.size; ++i) ++start[count_of[i]];
        const std::size_t left = heavy - ignored;
        std::size_t cut = 2, at = 0;
        for (;; ++cut) {
            const std::size_t features = start[cut];
            start[cut] = static_cast<std::uint32_t>(at);
            if (at + features >= left) break;
            at += features;
        }
        std::size_t of_last = left - at;
        prefix.features.resize(left);
        for (std::size_t i = 0; i < document.size; ++i) {
            const std::uint8_t count = count_of[i];
            if (count < 2 || count > cut || (count == cut && of_last == 0)) continue;
            if (count == cut) --of_last;
            prefix.features[start[count]++] = document.hashes[i];
        }
        for (std::size_t k = 0; k < left; ++k)
            prefix.parts.push_back(static_cast<double>(document.size - ignored - k));
    }

    // Of weighted features; `whole` is the mass of the document in units of `unit`.
    void choose(const DocumentView& document, std::size_t number, const Limits& limits,
                double whole, double unit, double least, StarPrefix& prefix) {
        const std::uint8_t* count_of = count_of_.data() + starts_[number];
        std::array<double, DocumentCounts::kCounts> masses{};
        std::array<std::uint32_t, DocumentCounts::kCounts> start{};
        for (std::size_t i = 0; i < document.size; ++i) {
            masses[count_of[i]] += limits.mass(document.weights[i]) / unit;
            ++start[count_of[i]];
        }
        prefix.features.clear();
        prefix.parts.clear();
        double left = whole - masses[0] - masses[1];
        if (left < least) return;
        std::size_t cut = 2, at = 0;
        double after = left;
        for (; cut < DocumentCounts::kCounts; ++cut) {
            at += std::exchange(start[cut], static_cast<std::uint32_t>(at));
            after -= masses[cut];
            if (after < least) break;
        }
        prefix.features.resize(at);
        masses_.resize(at);
        for (std::size_t i = 0; i < document.size; ++i) {
            const std::uint8_t count = count_of[i];
            if (count < 2 || count > cut) continue;
            masses_[start[count]] = limits.mass(document.weights[i]) / unit;
            prefix.features[start[count]++] = document.hashes[i];
        }
        for (std::size_t k = 0; k < at && left >= least; ++k) {
            prefix.parts.push_back(left);
            left -= masses_[k];
        }
        prefix.features.resize(prefix.parts.size());
    }

    // All weighted features that other documents may have. Parts are summed from their light end:
    // what is left of the mass of all would be wrong by a part of that mass.
    void choose_all(const DocumentView& document, std::size_t number, StarPrefix& prefix) {
        const std::uint8_t* count_of = count_of_.data() + starts_[number];
        const auto counts = [&](std::size_t i) {
            return count_of[i] >= 2 && document.weights[i] > 0;
        };
        std::array<std::uint32_t, DocumentCounts::kCounts> start{};
        for (std::size_t i = 0; i < document.size; ++i) start[count_of[i]] += counts(i);
        std::uint32_t at = 0;
        for (std::uint32_t& one : start) at += std::exchange(one, at);
        prefix.features.resize(at);
        prefix.parts.resize(at);
        for (std::size_t i = 0; i < document.size; ++i) {
            if (!counts(i)) continue;
            const std::uint32_t place = start[count_of[i]]++;
            prefix.features[place] = document.hashes[i];
            prefix.parts[place] = document.weights[i];
        }
        double after = 0;
        for (std::size_t k = at; k-- != 0;) after = prefix.parts[k] += after;
    }

  private:
    // Stands for a count that was not looked up; any that is not alone.
    static constexpr std::uint8_t kUnknown = DocumentCounts::kCounts - 1;

    struct Run {
        const std::uint64_t *begin, *end;
        std::uint8_t* counts;
    };

    // How many features of a set are too many for those it shares with another not to include one
    // of them.
    static std::size_t heavy_features(std::size_t size, const Limits& limits) {
        const double least = limits.probe(static_cast<double>(size));
        const auto light = static_cast<std::size_t>(std::max(std::ceil(least) - 1, 0.0));
        return size - std::min(light, size);
    }

    void lay_out(const DocumentView* documents, std::size_t count) {
        std::size_t features = 0;
        starts_.resize(count);
        for (std::size_t i = 0; i < count; ++i) {
            starts_[i] = features;
            features += documents[i].size;
        }
        if (count_of_.size() < features) count_of_.resize(features);
    }

    void add_run(const DocumentView& document, std::size_t number, std::size_t first,
                 std::size_t last) {
        if (first == last) return;
        runs_.push_back({document.hashes + first, document.hashes + last,
                         count_of_.data() + starts_[number] + first});
    }

    void count_runs() {
        auto ahead = runs_.begin();
        const std::uint64_t* next = runs_.empty() ? nullptr : ahead->begin;
        const auto prefetch = [&] {
            if (ahead == runs_.end()) return;
            counts_.prefetch(*next);
            if (++next == ahead->end && ++ahead != runs_.end()) next = ahead->begin;
        };
        for (std::size_t i = 0; i < DocumentCounts::kAhead; ++i) prefetch();
        for (const Run& run : runs_) {
            std::uint8_t* counts = run.counts;
            for (const std::uint64_t* hash = run.begin; hash != run.end; ++hash) {
                prefetch();
                *counts++ = counts_.of(*hash);
            }
        }
        runs_.clear();
    }

    // How many of the first features of a document no other one has.
    std::size_t alone(std::size_t number, std::size_t features) const {
        const std::uint8_t* counts = count_of_.data() + starts_[number];
        std::size_t alone = 0;
        for (std::size_t i = 0; i < features; ++i) alone += counts[i] < 2;
        return alone;
    }

    const DocumentCounts& counts_;
    std::vector<Run> runs_;
    std::vector<std::size_t> starts_;  // of the counts of each document
    std::vector<std::uint8_t> count_of_;
    std::vector<double> masses_;
};

}  // namespace neardup
