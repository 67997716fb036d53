#include "neardup/set_join/join.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "neardup/parallel.hpp"
#include "neardup/set_join/overlap.hpp"
#include "neardup/set_join/pair.hpp"

namespace neardup {

double WeightedPairs::jaccard(const DocumentView& a, const DocumentView& b) {
    // A merge without branches: a value that does not belong to a list is overwritten by the next.
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

double WeightedPairs::part(const DocumentView& a, const DocumentView& b, double mass) {
    const std::size_t most = std::min(a.size, b.size) + 1;
    if (first_.size() < most) first_.resize(most);
    double* smaller = first_.data();
    std::size_t i = 0, j = 0, shared = 0;
    while (i < a.size && j < b.size) {
        const std::uint64_t x = a.hashes[i], y = b.hashes[j];
        smaller[shared] = std::min(a.weights[i], b.weights[j]);
        shared += x == y;
        i += x <= y;
        j += y <= x;
    }
    return mass == 0 ? 0 : std::fmin(exact_sum(smaller, shared) / mass, 1.0);
}

double WeightedPairs::square(const DocumentView& document) {
    if (first_.size() < document.size) first_.resize(document.size);
    for (std::size_t i = 0; i < document.size; ++i)
        first_[i] = document.weights[i] * document.weights[i];
    return exact_sum(first_.data(), document.size);
}

namespace {

constexpr std::size_t kTask = 1024;  // pairs or documents at a time

template <typename Work>
void parallel_ranges(std::size_t count, std::size_t threads, const Work& work) {
    const std::size_t tasks = (count + kTask - 1) / kTask;
    parallel_tasks(tasks, threads, [&](const auto& next) {
        WeightedPairs room;
        for (std::size_t task = next(); task < tasks; task = next())
            work(room, task * kTask, std::min(count, (task + 1) * kTask));
    });
}

// The exact masses of those documents that are in a pair.
std::vector<double> masses(const FeatureColumn& column, const std::vector<bool>& wanted,
                           Measure measure, std::size_t threads) {
    std::vector<double> found(column.count);
    parallel_ranges(column.count, threads,
                    [&](WeightedPairs& room, std::size_t first, std::size_t last) {
                        for (std::size_t i = first; i < last; ++i)
                            if (wanted[i]) found[i] = exact_mass(measure, {column, i}, room);
                    });
    return found;
}

}  // namespace

void similarities(const Collections& documents, const PairList& pairs, Measure measure,
                  std::size_t threads, double* found) {
    const FeatureColumn &left = documents.left, &right = documents.others();
    std::vector<double> left_masses, right_masses;
    const bool weighted = left.weights != nullptr;
    if (weighted && (measure == Measure::cosine || is_of_one(measure))) {
        std::vector<bool> in_left(left.count), in_right(right.count);
        for (std::size_t i = 0; i < pairs.count; ++i) {
            in_left[static_cast<std::size_t>(pairs.a[i])] = true;
            in_right[static_cast<std::size_t>(pairs.b[i])] = true;
        }
        left_masses = masses(left, in_left, measure, threads);
        right_masses = masses(right, in_right, measure, threads);
    }
    parallel_ranges(
        pairs.count, threads, [&](WeightedPairs& room, std::size_t first, std::size_t last) {
            for (std::size_t i = first; i < last; ++i) {
                const auto a = static_cast<std::size_t>(pairs.a[i]),
                           b = static_cast<std::size_t>(pairs.b[i]);
                const DocumentView x(left, a), y(right, b);
                if (!weighted)
                    found[i] = set_similarity(
                        measure, shared_count(x.hashes, x.size, y.hashes, y.size), x.size, y.size);
                else if (measure == Measure::cosine)
                    found[i] = room.cosine(x, y, left_masses[a], right_masses[b]);
                else if (is_of_one(measure))
                    found[i] = room.part(x, y, divisor(measure, left_masses[a], right_masses[b]));
                else
                    found[i] = room.jaccard(x, y);
            }
        });
}

}  // namespace neardup
