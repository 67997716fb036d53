#include "neardup/similar/pair.hpp"

#include <algorithm>

namespace neardup {

double WeightedPairs::jaccard(const DocumentView& a, const DocumentView& b) {
    // A merge without branches: what does not belong to a list is written over by the next.
    const std::size_t most = a.size + b.size + 1;
    if (first_.size() < most) first_.resize(most);
    if (second_.size() < most) second_.resize(most);
    if (third_.size() < most) third_.resize(most);
    double *smaller = first_.data(), *larger = second_.data(), *only_b = third_.data();
    std::size_t i = 0, j = 0, shared = 0, rest = 0;
    while (i < a.size && j < b.size) {
        const std::uint64_t x = a.hashes[i], y = b.hashes[j];
        const double p = a.weights[i], q = b.weights[j];
        smaller[shared] = std::min(p, q);
        larger[i] = std::max(p, x == y ? q : 0);
        only_b[rest] = q;
        shared += x == y;
        rest += y < x;
        i += x <= y;
        j += y <= x;
    }
    std::copy(a.weights + i, a.weights + a.size, larger + i);
    std::copy(b.weights + j, b.weights + b.size, only_b + rest);
    const double all = exact_sum(larger, a.size) + exact_sum(only_b, rest + b.size - j);
    return all == 0 ? 0 : std::fmin(exact_sum(smaller, shared) / all, 1.0);
}

double WeightedPairs::cosine(const DocumentView& a, const DocumentView& b, double a_square,
                             double b_square) {
    const std::size_t most = std::min(a.size, b.size) + 1;
    if (first_.size() < most) first_.resize(most);
    double* products = first_.data();
    std::size_t i = 0, j = 0, shared = 0;
    while (i < a.size && j < b.size) {
        const std::uint64_t x = a.hashes[i], y = b.hashes[j];
        products[shared] = a.weights[i] * b.weights[j];
        shared += x == y;
        i += x <= y;
        j += y <= x;
    }
    const double dot = exact_sum(products, shared);
    if (dot == 0) return 0;
    return std::fmin(std::sqrt(dot / a_square * (dot / b_square)), 1.0);
}

double WeightedPairs::square(const DocumentView& document) {
    if (first_.size() < document.size) first_.resize(document.size);
    for (std::size_t i = 0; i < document.size; ++i)
        first_[i] = document.weights[i] * document.weights[i];
    return exact_sum(first_.data(), document.size);
}

}  // namespace neardup
