#include <algorithm>
#include <mutex>

#include "neardup/parallel.hpp"
#include "neardup/set_join/prefix_join.hpp"

namespace neardup {

namespace {

constexpr std::size_t kTask = 64;  // documents at a time

// Run `step` for every document with one worker per thread, then `finish` for each worker.
template <bool Weighted, typename Step, typename Finish>
void work_through(const PrefixJoin<Weighted>& join, std::size_t threads, const Step& step,
                  const Finish& finish) {
    const std::size_t count = join.ranked.count(), tasks = (count + kTask - 1) / kTask;
    PairLimit limit(join.most_pairs, threads);
    std::mutex lock;
    parallel_tasks(tasks, threads, [&](const auto& next) {
        PrefixWorker<Weighted> worker(join, limit);
        for (std::size_t task = next(); task < tasks; task = next())
            for (std::size_t i = task * kTask; i < std::min(count, (task + 1) * kTask); ++i)
                step(worker, i);
        const std::lock_guard<std::mutex> hold(lock);
        finish(worker);
    });
}

template <bool Weighted>
std::uint64_t predict(const PrefixJoin<Weighted>& join, std::size_t threads) {
    std::uint64_t postings = 0;
    work_through(
        join, threads, [](auto& worker, std::size_t document) { worker.predict(document); },
        [&](auto& worker) { postings += worker.postings; });
    return postings;
}

template <bool Weighted>
SetJoin joined(const PrefixJoin<Weighted>& join, std::uint64_t most, std::size_t threads) {
    SetJoin found{{}, 0, 0, true};
    if (most != kAnyNumber) {
        const std::uint64_t postings = predict(join, threads);
        if (postings > most) return {{}, 0, postings, false};
    }
    work_through(
        join, threads, [](auto& worker, std::size_t document) { worker.run(document); },
        [&](auto& worker) {
            found.compared += worker.compared;
            found.postings += worker.postings;
            if (found.pairs.empty())
                found.pairs.swap(worker.pairs);
            else
                found.pairs.insert(found.pairs.end(), worker.pairs.begin(), worker.pairs.end());
        });
    if (found.pairs.size() > join.most_pairs) throw TooManyPairs();
    std::sort(found.pairs.begin(), found.pairs.end(),
              [](const SimilarPair& x, const SimilarPair& y) { return x.places < y.places; });
    return found;
}

}  // namespace

SetJoin join_sets(const Collections& documents, Measure measure, double threshold,
                  std::uint64_t most, std::size_t threads, std::uint64_t most_pairs) {
    if (documents.left.weights != nullptr)
        return joined(PrefixJoin<true>(documents, measure, threshold, threads, most_pairs), most,
                      threads);
    return joined(PrefixJoin<false>(documents, measure, threshold, threads, most_pairs), most,
                  threads);
}

std::uint64_t predict_postings(const Collections& documents, Measure measure, double threshold,
                               std::size_t threads) {
    if (documents.left.weights != nullptr)
        return predict(PrefixJoin<true>(documents, measure, threshold, threads), threads);
    return predict(PrefixJoin<false>(documents, measure, threshold, threads), threads);
}

}  // namespace neardup
