// The kept documents of a star join: their postings, and the parity bitmaps of sets.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "neardup/set_join/kernels.hpp"
#include "neardup/set_join/parity.hpp"
#include "neardup/set_join/posting_lists.hpp"
#include "neardup/set_join/star_join.hpp"
#include "neardup/set_join/star_prefix.hpp"

namespace neardup {

inline constexpr std::uint16_t kLargestKey = 0xFFFF;

// A mass as 16 bits. Larger masses never have smaller keys, so comparing keys loses no pair. That
// of a set begins with the exponent of its size, and has 2,048 steps for each doubling; weights
// need more exponents and have 256.
template <bool Weighted>
std::uint16_t star_key(double mass) {
    const auto bits = std::bit_cast<std::uint32_t>(
        static_cast<float>(std::min(mass, static_cast<double>(std::numeric_limits<float>::max()))));
    if (!(mass > 0)) return 0;
    if constexpr (Weighted) return static_cast<std::uint16_t>(bits >> 15);
    if (mass < 1) return 0;
    return static_cast<std::uint16_t>(std::min((bits >> 12) - (127U << 11), 0xFFFFU));
}

// The lists of features: of the documents that have one among their first, or further ones. The
// latter lists are long, and not sorted.
struct StarLists {
    PostingLists first, further;

    StarLists(int bits, const Limits& limits)
        : first(bits), further(limits.of_any_size() ? bits : 1) {}

    void clear() {
        first.clear();
        further.clear();
    }
    std::size_t bytes() const { return first.bytes() + further.bytes(); }
};

// A document about to be decided on.
struct Probe {
    std::size_t place = 0;
    DocumentView document{nullptr, nullptr, 0};
    double mass = 0;   // for a cosine of weights, the exact square of its length
    double whole = 0;  // the mass by which prefixes go: 1 for a cosine of weights
    StarPrefix prefix;
    ParityBitmap parity;                // of a set
    std::vector<std::uint64_t> hashes;  // of its own where they are read from a file
    std::vector<double> weights;
};

struct KeptDocument {
    std::uint32_t place;
    std::uint32_t slot;  // of its bitmap
    std::uint32_t size;
    double mass;
};

// Kept sets of about the same size, with bitmaps of one size: 32 classes for each doubling.
struct SizeClass {
    static constexpr int kKeyBits = 6;
    static constexpr std::size_t kClasses = std::size_t{1} << (16 - kKeyBits);

    std::vector<std::uint32_t> documents, sizes;
    portable::Buffer<std::uint64_t> bitmaps;
    int log = 0;

    std::uint64_t* row(std::size_t slot) { return bitmaps.data() + (slot << log); }
};

template <bool Weighted>
class StarIndex {
  public:
    StarIndex(const StoredFeatures& stored, const DocumentCounts& counts, Measure measure,
              double threshold, int bits)
        : stored(stored),
          counts(counts),
          measure(measure),
          threshold(threshold),
          limits(measure, Weighted, threshold),
          lists(bits, limits),
          classes(Weighted ? 0 : SizeClass::kClasses) {}

    // The postings of weights are sorted by what follows them if their documents weigh the same.
    bool by_length() const { return Weighted && measure == Measure::cosine; }

    StarPosting posting(const Probe& probe, std::size_t k, std::uint32_t document) const {
        const double part = probe.prefix.parts[k];
        if (by_length()) return {document, star_key<Weighted>(std::sqrt(part)), kLargestKey};
        return {document, star_key<Weighted>(probe.mass),
                star_key<Weighted>(limits.heaviest_partner(probe.mass, part))};
    }

    // Keep a document; its number.
    std::uint32_t insert(const Probe& probe) {
        const auto number = static_cast<std::uint32_t>(kept.size());
        std::uint32_t slot = 0;
        if constexpr (!Weighted) slot = add_bitmap(probe, number);
        kept.push_back({static_cast<std::uint32_t>(probe.place), slot,
                        static_cast<std::uint32_t>(probe.document.size), probe.mass});
        insert(probe, number, lists);
        return number;
    }

    // Put the postings of a document into lists.
    void insert(const Probe& probe, std::uint32_t number, StarLists& into) const {
        const std::vector<std::uint64_t>& features = probe.prefix.features;
        const std::size_t first = first_features(probe, limits);
        constexpr std::size_t kAhead = 8;
        for (std::size_t k = 0; k < first; ++k) {
            if (k + kAhead < first) into.first.prefetch(features[k + kAhead]);
            into.first.insert(features[k], posting(probe, k, number));
        }
        for (std::size_t k = first; k < features.size(); ++k) {
            if (k + kAhead < features.size()) into.further.prefetch(features[k + kAhead]);
            into.further.append(features[k], posting(probe, k, number));
        }
    }

    // How many features are enough to find a document by, among those that are not lighter. Only
    // documents that can be similar to far heavier ones have further ones.
    std::size_t first_features(const Probe& probe, const Limits& at) const {
        return at.of_any_size() ? probe.prefix.needed(at.index(probe.whole))
                                : probe.prefix.features.size();
    }

    void clear() {
        kept.clear();
        lists.clear();
        for (SizeClass& one : classes) {
            one.documents.clear();
            one.sizes.clear();
            one.bitmaps.release();
        }
        bitmap_bytes_ = 0;
    }

    std::size_t bytes() const {
        return lists.bytes() + kept.size() * (sizeof(KeptDocument) + 8) + bitmap_bytes_;
    }

    SizeClass& class_of(double size) {
        return classes[star_key<Weighted>(size) >> SizeClass::kKeyBits];
    }

    const StoredFeatures& stored;
    const DocumentCounts& counts;
    const Measure measure;
    const double threshold;
    const Limits limits;
    StarLists lists;
    std::vector<KeptDocument> kept;
    std::vector<SizeClass> classes;

  private:
    std::uint32_t add_bitmap(const Probe& probe, std::uint32_t number) {
        SizeClass& own = class_of(probe.mass);
        const std::size_t slot = own.documents.size(), words = std::size_t{1} << probe.parity.log();
        own.log = probe.parity.log();
        own.bitmaps.reserve((slot + 1) * words);
        std::copy_n(probe.parity.of_log(own.log), words, own.row(slot));
        own.documents.push_back(number);
        own.sizes.push_back(static_cast<std::uint32_t>(probe.document.size));
        bitmap_bytes_ += words * sizeof(std::uint64_t);
        return static_cast<std::uint32_t>(slot);
    }

    std::size_t bitmap_bytes_ = 0;
};

}  // namespace neardup
