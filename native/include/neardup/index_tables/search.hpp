// Runs several queries at a time, so that their cache misses overlap.
//
// A source is what is searched: `open(cursor, key)` finds a bucket, `each_near(cursor, near, take)`
// passes those of its next groups whose tags are `near` to `take`, and `next(cursor)` advances, or
// returns false at the end of the bucket.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "neardup/index_tables/kernels.hpp"
#include "neardup/index_tables/mask_key.hpp"
#include "neardup/parallel.hpp"

namespace neardup {

// The matches of queries: nearest first, then by lowest number.
struct FoundMatches {
    std::vector<std::size_t> counts;  // of each query
    std::vector<std::uint64_t> numbers;
    std::vector<std::uint16_t> distances;
};

struct Query {
    const std::uint64_t* rows;
    std::size_t count, limbs;
    std::uint32_t most;  // differing bits
    std::size_t limit;   // matches of each
};

// A bucket being read.
struct Cursor {
    std::uint32_t query, mask, tag;
    std::size_t at;      // where the source reads next
    std::uint32_t left;  // groups from there on
};

template <typename Source>
class Searcher {
  public:
    Searcher(const Source& source, const std::vector<MaskKey>& masks, const Query& query,
             const TableKernels& kernels, FoundMatches& found)
        : source_(source), masks_(masks), query_(query), kernels_(kernels), found_(found) {}

    void search(std::size_t first, std::size_t last) {
        const std::size_t together = std::max<std::size_t>(1, kCursors / (masks_.size() + 1));
        for (; first < last; first += together) batch(first, std::min(first + together, last));
    }

  private:
    // Four queries of four tables; three or eight times as many were not faster.
    static constexpr std::size_t kCursors = 20;
    static constexpr std::size_t kCandidates = 64;

    struct Candidate {
        std::uint32_t query, mask, group;
    };
    struct Near {
        std::uint32_t distance, group;
    };

    const std::uint64_t* row(std::size_t query) const { return query_.rows + query * query_.limbs; }

    void batch(std::size_t first, std::size_t last) {
        first_ = first;
        if (near_.size() < last - first) near_.resize(last - first);
        open_all(first, last);
        while (!cursors_.empty()) {
            for (std::size_t i = 0; i < cursors_.size();) {
                Cursor& cursor = cursors_[i];
                const std::uint32_t exact = masks_[cursor.mask].exact();
                const auto near = [&](const std::uint32_t* tags) {
                    return kernels_.near_tags(tags, cursor.tag, exact, query_.most);
                };
                source_.each_near(cursor, near, [&](std::uint32_t group) {
                    source_.prefetch_row(group);
                    candidates_.push_back({cursor.query, cursor.mask, group});
                });
                if (source_.next(cursor)) {
                    ++i;
                } else {
                    cursor = cursors_.back();
                    cursors_.pop_back();
                }
                if (candidates_.size() >= kCandidates) verify();
            }
        }
        verify();
        for (std::size_t i = 0; i < last - first; ++i) tell(near_[i]);
    }

    void open_all(std::size_t first, std::size_t last) {
        keys_.clear();
        for (std::size_t i = first; i < last; ++i)
            for (std::size_t mask = 0; mask < masks_.size(); ++mask) {
                keys_.push_back(masks_[mask].key(row(i)));
                source_.prefetch_bucket(mask, keys_.back());
            }
        std::size_t at = 0;
        for (std::size_t i = first; i < last; ++i)
            for (std::uint32_t mask = 0; mask < masks_.size(); ++mask) {
                const std::uint64_t key = keys_[at++];
                Cursor cursor{static_cast<std::uint32_t>(i - first), mask,
                              masks_[mask].tag(row(i), key), 0, 0};
                if (source_.open(cursor, key)) cursors_.push_back(cursor);
            }
    }

    // A group counts at the first mask on which it agrees, and at no other.
    void verify() {
        for (const Candidate& candidate : candidates_) {
            const std::uint64_t* x = row(first_ + candidate.query);
            const std::uint64_t* y = source_.row(candidate.group);
            const std::uint32_t distance = kernels_.distance(x, y, query_.limbs);
            if (distance > query_.most || !masks_[candidate.mask].agree(x, y)) continue;
            bool earlier = false;
            for (std::uint32_t mask = 0; mask < candidate.mask && !earlier; ++mask)
                earlier = masks_[mask].agree(x, y);
            if (!earlier) near_[candidate.query].push_back({distance, candidate.group});
        }
        candidates_.clear();
    }

    // Write the members of the groups near a query, up to its limit.
    void tell(std::vector<Near>& near) {
        const std::size_t before = found_.numbers.size();
        std::sort(near.begin(), near.end(),
                  [](const Near& x, const Near& y) { return x.distance < y.distance; });
        for (std::size_t i = 0, end; i < near.size(); i = end) {
            const std::size_t from = found_.numbers.size();
            const std::size_t still = query_.limit - (from - before);
            if (still == 0) break;
            for (end = i; end < near.size() && near[end].distance == near[i].distance; ++end)
                source_.each_member(near[end].group, still, [&](std::uint64_t number) {
                    found_.numbers.push_back(number);
                });
            const auto start = found_.numbers.begin() + static_cast<std::ptrdiff_t>(from);
            if (end - i > 1) std::sort(start, found_.numbers.end());
            if (found_.numbers.size() - from > still) found_.numbers.resize(from + still);
            found_.distances.resize(found_.numbers.size(),
                                    static_cast<std::uint16_t>(near[i].distance));
        }
        found_.counts.push_back(found_.numbers.size() - before);
        near.clear();
    }

    const Source& source_;
    const std::vector<MaskKey>& masks_;
    const Query& query_;
    const TableKernels& kernels_;
    FoundMatches& found_;
    std::size_t first_ = 0;
    std::vector<std::uint64_t> keys_;
    std::vector<Cursor> cursors_;
    std::vector<Candidate> candidates_;
    std::vector<std::vector<Near>> near_;
};

// The matches of every query, whatever the number of threads.
template <typename Source>
FoundMatches search(const Source& source, const std::vector<MaskKey>& masks, const Query& query,
                    std::size_t threads, const TableKernels& kernels) {
    constexpr std::size_t kTask = 512;
    const std::size_t tasks = std::max<std::size_t>(1, (query.count + kTask - 1) / kTask);
    if (threads <= 1 || tasks == 1) {
        FoundMatches all;
        Searcher<Source>(source, masks, query, kernels, all).search(0, query.count);
        return all;
    }
    std::vector<FoundMatches> found(tasks);
    parallel_tasks(tasks, threads, [&](const auto& next_task) {
        for (std::size_t task = next_task(); task < tasks; task = next_task())
            Searcher<Source>(source, masks, query, kernels, found[task])
                .search(task * kTask, std::min((task + 1) * kTask, query.count));
    });
    FoundMatches all;
    for (FoundMatches& part : found) {
        all.counts.insert(all.counts.end(), part.counts.begin(), part.counts.end());
        all.numbers.insert(all.numbers.end(), part.numbers.begin(), part.numbers.end());
        all.distances.insert(all.distances.end(), part.distances.begin(), part.distances.end());
        part = {};
    }
    return all;
}

}  // namespace neardup
