// The true similarity of one pair of documents.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "neardup/set_join/exact_sum.hpp"
#include "neardup/set_join/join.hpp"

namespace neardup {

// The features of one document.
struct DocumentView {
    const std::uint64_t* hashes;
    const double* weights;
    std::size_t size;

    DocumentView(const std::uint64_t* hashes, const double* weights, std::size_t size)
        : hashes(hashes), weights(weights), size(size) {}

    DocumentView(const FeatureColumn& column, std::size_t place)
        : hashes(column.hashes + column.offsets[place]),
          weights(column.weights == nullptr ? nullptr : column.weights + column.offsets[place]),
          size(static_cast<std::size_t>(column.offsets[place + 1] - column.offsets[place])) {}
};

// Places count through the left documents and then the right ones.
inline DocumentView view_of(const Collections& documents, std::size_t place) {
    const std::size_t left = documents.left.count;
    return place < left ? DocumentView(documents.left, place)
                        : DocumentView(documents.right, place - left);
}

// What a measure of one document divides by.
template <typename Mass>
Mass divisor(Measure measure, Mass a, Mass b) {
    return measure == Measure::inclusion ? a : std::min(a, b);
}

// The similarity of two sets, from the number of features they share.
inline double set_similarity(Measure measure, std::size_t shared, std::size_t a, std::size_t b) {
    if (shared == 0) return 0;
    const auto both = static_cast<double>(shared);
    if (is_of_one(measure)) return both / static_cast<double>(divisor(measure, a, b));
    if (measure != Measure::cosine) return both / static_cast<double>(a + b - shared);
    return std::fmin(std::sqrt(both / static_cast<double>(a) * (both / static_cast<double>(b))),
                     1.0);
}

// The similarity of weighted documents; reuses its memory from pair to pair.
class WeightedPairs {
  public:
    double jaccard(const DocumentView& a, const DocumentView& b);

    // `a_square` and `b_square` are those of `square`.
    double cosine(const DocumentView& a, const DocumentView& b, double a_square, double b_square);

    // Containment or inclusion: the exact sum of the smaller weights, as a part of `mass`.
    double part(const DocumentView& a, const DocumentView& b, double mass);

    // The exact sum of squared weights.
    double square(const DocumentView& document);

  private:
    std::vector<double> first_, second_, third_;
};

// The mass of a weighted document, exactly summed.
inline double exact_mass(Measure measure, const DocumentView& document, WeightedPairs& room) {
    return measure == Measure::cosine ? room.square(document)
                                      : exact_sum(document.weights, document.size);
}

}  // namespace neardup
