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
#include <vector>

#include "neardup/set_join/document_counts.hpp"
#include "neardup/set_join/limits.hpp"
#include "neardup/set_join/pair.hpp"

namespace neardup {

// The features of a prefix that other documents may have, in order. Without any, the document is
// similar to none.
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

// Chooses prefixes; each thread has its own.
class PrefixChooser {
  public:
    explicit PrefixChooser(const DocumentCounts& counts) : counts_(counts) {}

    // Of a set, where fewer than `least` features cannot make a pair.
    void choose(const DocumentView& document, double least, StarPrefix& prefix) {
        count_features(document);
        std::array<std::uint32_t, 256> start{};
        for (std::size_t i = 0; i < document.size; ++i) ++start[count_of_[i]];
        const std::size_t alone = start[0] + start[1];
        const std::size_t light = static_cast<std::size_t>(std::max(std::ceil(least) - 1, 0.0));
        const std::size_t whole = document.size - std::min(light, document.size);
        prefix.features.clear();
        prefix.parts.clear();
        if (alone >= whole) return;
        std::size_t left = whole - alone, cut = 2, at = 0;
        for (;; ++cut) {
            const std::size_t features = start[cut];
            start[cut] = static_cast<std::uint32_t>(at);
            if (at + features >= left) break;
            at += features;
        }
        std::size_t of_last = left - at;
        prefix.features.resize(left);
        for (std::size_t i = 0; i < document.size; ++i) {
            const std::uint8_t count = count_of_[i];
            if (count < 2 || count > cut || (count == cut && of_last == 0)) continue;
            if (count == cut) --of_last;
            prefix.features[start[count]++] = document.hashes[i];
        }
        for (std::size_t k = 0; k < left; ++k)
            prefix.parts.push_back(static_cast<double>(document.size - alone - k));
    }

    // Of weighted features; `whole` is the mass of the document in units of `unit`.
    void choose(const DocumentView& document, const Limits& limits, double whole, double unit,
                double least, StarPrefix& prefix) {
        count_features(document);
        std::array<double, 256> masses{};
        std::array<std::uint32_t, 256> start{};
        for (std::size_t i = 0; i < document.size; ++i) {
            masses[count_of_[i]] += limits.mass(document.weights[i]) / unit;
            ++start[count_of_[i]];
        }
        prefix.features.clear();
        prefix.parts.clear();
        double left = whole - masses[0] - masses[1];
        if (left < least) return;
        std::size_t cut = 2, at = 0;
        double after = left;
        for (; cut < 256; ++cut) {
            at += std::exchange(start[cut], static_cast<std::uint32_t>(at));
            after -= masses[cut];
            if (after < least) break;
        }
        prefix.features.resize(at);
        masses_.resize(at);
        for (std::size_t i = 0; i < document.size; ++i) {
            const std::uint8_t count = count_of_[i];
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

  private:
    void count_features(const DocumentView& document) {
        const std::size_t size = document.size;
        count_of_.resize(size);
        for (std::size_t i = 0; i < std::min(size, DocumentCounts::kAhead); ++i)
            counts_.prefetch(document.hashes[i]);
        for (std::size_t i = 0; i < size; ++i) {
            if (i + DocumentCounts::kAhead < size)
                counts_.prefetch(document.hashes[i + DocumentCounts::kAhead]);
            count_of_[i] = counts_.of(document.hashes[i]);
        }
    }

    const DocumentCounts& counts_;
    std::vector<std::uint8_t> count_of_;
    std::vector<double> masses_;
};

}  // namespace neardup
