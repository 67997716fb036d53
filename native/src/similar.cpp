#include "neardup/similar/similar.hpp"

#include <algorithm>
#include <numeric>

#include "neardup/join/memory.hpp"
#include "neardup/parallel.hpp"
#include "neardup/similar/overlap.hpp"
#include "neardup/similar/pair.hpp"

namespace neardup {

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

// The squares of those documents that are in a pair.
std::vector<double> squares(const FeatureColumn& column, const std::vector<bool>& wanted,
                            std::size_t threads) {
    std::vector<double> found(column.count);
    parallel_ranges(column.count, threads,
                    [&](WeightedPairs& room, std::size_t first, std::size_t last) {
                        for (std::size_t i = first; i < last; ++i)
                            if (wanted[i]) found[i] = room.square({column, i});
                    });
    return found;
}

}  // namespace

void similarities(const Collections& documents, const PairList& pairs, Measure measure,
                  std::size_t threads, double* found) {
    const FeatureColumn &left = documents.left, &right = documents.others();
    std::vector<double> left_squares, right_squares;
    const bool weighted = left.weights != nullptr;
    if (weighted && measure == Measure::cosine) {
        std::vector<bool> in_left(left.count), in_right(right.count);
        for (std::size_t i = 0; i < pairs.count; ++i) {
            in_left[static_cast<std::size_t>(pairs.a[i])] = true;
            in_right[static_cast<std::size_t>(pairs.b[i])] = true;
        }
        left_squares = squares(left, in_left, threads);
        right_squares = squares(right, in_right, threads);
    }
    parallel_ranges(pairs.count, threads,
                    [&](WeightedPairs& room, std::size_t first, std::size_t last) {
                        for (std::size_t i = first; i < last; ++i) {
                            const auto a = static_cast<std::size_t>(pairs.a[i]),
                                       b = static_cast<std::size_t>(pairs.b[i]);
                            const DocumentView x(left, a), y(right, b);
                            if (!weighted)
                                found[i] = set_similarity(
                                    measure, shared_count(x.hashes, x.size, y.hashes, y.size),
                                    x.size, y.size);
                            else if (measure == Measure::cosine)
                                found[i] = room.cosine(x, y, left_squares[a], right_squares[b]);
                            else
                                found[i] = room.jaccard(x, y);
                        }
                    });
}

void components(std::size_t count, const PairList& pairs, std::int64_t* smallest) {
    // A root is the smallest of its tree, so that no tree needs to be walked at the end.
    Room<std::uint32_t> room;
    std::uint32_t* const parent = room.at_least(count + 1);
    std::iota(parent, parent + count, 0U);
    const auto root = [&](std::uint32_t place) {
        while (parent[place] != place) place = parent[place] = parent[parent[place]];
        return place;
    };
    for (std::size_t i = 0; i < pairs.count; ++i) {
        const std::uint32_t x = root(static_cast<std::uint32_t>(pairs.a[i])),
                            y = root(static_cast<std::uint32_t>(pairs.b[i]));
        parent[std::max(x, y)] = std::min(x, y);
    }
    for (std::size_t i = 0; i < count; ++i)
        smallest[i] = parent[i] == i ? static_cast<std::int64_t>(i) : smallest[parent[i]];
}

}  // namespace neardup
