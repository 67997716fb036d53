#include "neardup/set_join/star_join.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>

#include "neardup/parallel.hpp"
#include "neardup/set_join/star_worker.hpp"

namespace neardup {

namespace {

// Documents that are looked up at a time, by all threads, before any of them is decided on; the
// index grows by the kept ones afterwards. At most so many features, which may have to be held.
constexpr std::size_t kFirstBlock = 64, kLargestBlock = 2048, kBlockFeatures = 1 << 21;
// Documents that a thread takes at a time, and whose features it looks up together. With one
// thread these are a block; the features of more would push the index out of the cache.
constexpr std::size_t kTask = 16, kTaskFeatures = 1 << 13;
constexpr int kNewestBits = 14;
constexpr std::size_t kMostPostingBytes = std::size_t{1} << 34;

int list_bits(std::size_t features, std::size_t memory) {
    const int wanted = std::clamp(static_cast<int>(std::bit_width(features / 16)), 12, 24);
    // At most an eighth of the memory, at 8 bytes a list.
    return std::min(wanted, std::max(12, static_cast<int>(std::bit_width(memory / 64)) - 1));
}

template <bool Weighted>
class Join : public StarJoin {
  public:
    Join(const StoredFeatures& stored, const DocumentCounts& counts, Measure measure,
         double threshold, std::size_t features, std::size_t memory)
        : index_(stored, counts, measure, threshold, list_bits(features, memory)),
          newest_(kNewestBits, index_.limits),
          memory_(std::min(memory, kMostPostingBytes)) {}

    std::size_t decide(const std::int64_t* places, std::size_t count, const Decisions& documents,
                       std::size_t threads) override {
        make_workers(threads);
        std::size_t done = 0;
        while (done < count && !full()) {
            const std::size_t block = block_size(places + done, count - done, kLargestBlock);
            done += threads == 1 ? decide_one_by_one(places + done, block, documents)
                                 : decide_together(places + done, block, documents);
        }
        return done;
    }

    void look_up(const std::int64_t* places, std::size_t count, const Decisions& documents,
                 std::size_t threads) override {
        make_workers(threads);
        for (std::size_t done = 0; done < count;) {
            const std::size_t block = block_size(places + done, count - done, kLargestBlock);
            look_up_block(places + done, block, documents);
            done += block;
        }
    }

    std::size_t pairs(const std::int64_t* places, std::size_t count, const Part& part,
                      std::size_t threads, std::vector<SimilarPair>& found) override {
        make_workers(threads);
        std::size_t done = 0;
        const std::size_t before = found.size();
        while (done < count && found.size() - before < part.most && !(part.insert && full())) {
            const std::size_t of_each = (found.size() - before) / (done + 1) + 1;
            const std::size_t most = std::clamp(part.most / of_each, std::size_t{1}, kLargestBlock);
            const std::size_t block = block_size(places + done, count - done, most);
            if (threads == 1)
                done += pairs_one_by_one(places + done, block, part, before + part.most, found);
            else
                done += pairs_together(places + done, block, part, found);
        }
        return done;
    }

    void clear() override { index_.clear(); }
    // An empty index is never full, so that every pass gets on.
    bool full() const override { return !index_.kept.empty() && index_.bytes() >= memory_; }

    std::uint64_t compared() const override {
        std::uint64_t sum = 0;
        for (const auto& worker : workers_) sum += worker->compared;
        return sum;
    }

  private:
    using Worker = StarWorker<Weighted>;

    void make_workers(std::size_t threads) {
        while (workers_.size() < threads) workers_.push_back(std::make_unique<Worker>(index_));
        threads_ = threads;
    }

    // Call work(worker, first, last) for runs of `count` documents.
    template <typename Work>
    void in_parallel(std::size_t count, const Work& work) {
        std::atomic<std::size_t> free_worker{0};
        const std::size_t tasks = (count + kTask - 1) / kTask;
        parallel_tasks(tasks, threads_, [&](const auto& next) {
            Worker& worker = *workers_[free_worker.fetch_add(1)];
            for (std::size_t task = next(); task < tasks; task = next())
                work(worker, task * kTask, std::min(count, (task + 1) * kTask));
        });
    }

    std::size_t block_size(const std::int64_t* places, std::size_t count, std::size_t most) const {
        std::size_t wanted = kTask, most_features = kTaskFeatures;
        if (threads_ > 1) {
            wanted = std::max(kFirstBlock, index_.kept.size() / 2);
            most_features = kBlockFeatures;
        }
        wanted = std::min({wanted, count, most});
        std::size_t features = 0, block = 0;
        while (block < wanted && features < most_features)
            features += index_.stored.size(static_cast<std::size_t>(places[block++]));
        return block;
    }

    // Prepare those of the documents [first, last) that `wanted` tells.
    template <typename Wanted>
    void prepare(Worker& worker, const std::int64_t* places, std::size_t first, std::size_t last,
                 const Wanted& wanted) {
        std::array<Probe*, kTask> probes;
        std::size_t count = 0;
        for (std::size_t i = first; i < last; ++i) {
            const auto place = static_cast<std::size_t>(places[i]);
            if (!wanted(place)) continue;
            probes_[i].place = place;
            probes[count++] = &probes_[i];
        }
        worker.prepare(probes.data(), count);
    }

    // What is known of a document that is not kept; copies know what the first of them does.
    Nearest known(std::size_t place, const Decisions& documents) const {
        const auto own = static_cast<std::int64_t>(place);
        const auto first = static_cast<std::size_t>(documents.copy_of[place]);
        if (documents.kept_for[place] == own && documents.decision[first] == Decision::removed) {
            documents.kept_for[place] = documents.kept_for[first];
            documents.similarity[place] = documents.similarity[first];
        }
        Nearest nearest{index_.threshold};
        if (documents.kept_for[place] != own) nearest.similarity = documents.similarity[place];
        return nearest;
    }

    void record(std::size_t place, const Nearest& nearest, const Decisions& documents) const {
        if (nearest.document == Nearest::kNone) return;
        documents.kept_for[place] = index_.kept[nearest.document].place;
        documents.similarity[place] = nearest.similarity;
    }

    static bool is_copy(std::size_t place, const Decisions& documents) {
        return documents.copy_of[place] != static_cast<std::int64_t>(place);
    }

    // The decision on the first of the copies of a document.
    static Decision of_first(std::size_t place, const Decisions& documents) {
        return documents.decision[documents.copy_of[place]];
    }

    static void remove_copy(std::size_t place, const Decisions& documents) {
        documents.decision[place] = Decision::removed;
        documents.kept_for[place] = documents.copy_of[place];
        documents.similarity[place] = 1;
    }

    // Keep or remove a document by what was found. Its number, if it goes into the index.
    std::uint32_t settle(const Probe& probe, const Nearest& nearest, const Decisions& documents) {
        const std::size_t place = probe.place;
        record(place, nearest, documents);
        const bool removed = documents.kept_for[place] != static_cast<std::int64_t>(place);
        documents.decision[place] = removed ? Decision::removed : Decision::kept;
        return removed ? Nearest::kNone : insert(probe);
    }

    std::uint32_t insert(const Probe& probe) {
        return probe.prefix.features.empty() ? Nearest::kNone : index_.insert(probe);
    }

    std::size_t decide_one_by_one(const std::int64_t* places, std::size_t count,
                                  const Decisions& documents) {
        probes_.resize(std::max(probes_.size(), count));
        Worker& worker = *workers_[0];
        const auto is_ready = [&](std::size_t place) {
            return !is_copy(place, documents) || documents.decision[place] == Decision::kept;
        };
        prepare(worker, places, 0, count, is_ready);
        std::size_t done = 0;
        for (; done < count && !full(); ++done) {
            Probe& probe = probes_[done];
            const auto place = static_cast<std::size_t>(places[done]);
            if (documents.decision[place] == Decision::kept) {
                insert(probe);
                continue;
            }
            if (is_copy(place, documents)) {
                if (of_first(place, documents) == Decision::kept) {
                    remove_copy(place, documents);
                    continue;
                }
                prepare_one(worker, place, probe);
            }
            Nearest nearest = known(place, documents);
            worker.search(probe, nearest);
            settle(probe, nearest, documents);
        }
        return done;
    }

    static void prepare_one(Worker& worker, std::size_t place, Probe& probe) {
        probe.place = place;
        worker.prepare(probe);
    }

    // First all documents are looked up in the index as it is, then among those of the block that
    // may be kept; both in parallel. What is left to do in order is little.
    std::size_t decide_together(const std::int64_t* places, std::size_t count,
                                const Decisions& documents) {
        probes_.resize(std::max(probes_.size(), count));
        every_.resize(std::max(every_.size(), count));
        nearest_.assign(count, Nearest{index_.threshold});
        looked_up_.assign(count, 0);
        // Copies of a document that is not decided on go by it, for now.
        const auto waits = [&](std::size_t place) {
            return is_copy(place, documents) && documents.decision[place] != Decision::kept &&
                   of_first(place, documents) != Decision::removed;
        };
        in_parallel(count, [&](Worker& worker, std::size_t first, std::size_t last) {
            prepare(worker, places, first, last, [&](std::size_t place) { return !waits(place); });
            for (std::size_t i = first; i < last; ++i) {
                const auto place = static_cast<std::size_t>(places[i]);
                if (waits(place) || documents.decision[place] == Decision::kept) continue;
                nearest_[i] = known(place, documents);
                worker.search(probes_[i], nearest_[i]);
                looked_up_[i] = 1;
            }
        });
        const auto may_be_kept = [&](std::size_t i) {
            const auto place = static_cast<std::size_t>(places[i]);
            if (documents.decision[place] == Decision::kept) return true;
            return looked_up_[i] != 0 && nearest_[i].document == Nearest::kNone &&
                   documents.kept_for[place] == places[i];
        };
        for (std::size_t i = 0; i < count; ++i)
            if (may_be_kept(i)) index_.insert(probes_[i], static_cast<std::uint32_t>(i), newest_);
        const auto search_block = [&](Worker& worker, std::size_t i) {
            every_[i].clear();
            Every wanted{nearest_[i].least(), every_[i]};
            worker.search_block(probes_[i], newest_, probes_.data(), i, wanted);
        };
        in_parallel(count, [&](Worker& worker, std::size_t first, std::size_t last) {
            for (std::size_t i = first; i < last; ++i)
                if (looked_up_[i] != 0) search_block(worker, i);
        });
        newest_numbers_.assign(count, Nearest::kNone);
        for (std::size_t i = 0; i < count; ++i) {
            const auto place = static_cast<std::size_t>(places[i]);
            if (documents.decision[place] == Decision::kept) {
                newest_numbers_[i] = insert(probes_[i]);
                continue;
            }
            if (is_copy(place, documents)) {
                if (of_first(place, documents) == Decision::kept) {
                    remove_copy(place, documents);
                    continue;
                }
                // The first of them was decided on in this block: what it found holds here too.
                if (looked_up_[i] == 0) {
                    prepare_one(*workers_[0], place, probes_[i]);
                    nearest_[i] = known(place, documents);
                    search_block(*workers_[0], i);
                }
            }
            for (const auto& [other, similarity] : every_[i])
                if (newest_numbers_[other] != Nearest::kNone)
                    nearest_[i].take(newest_numbers_[other], similarity);
            newest_numbers_[i] = settle(probes_[i], nearest_[i], documents);
        }
        newest_.clear();
        return count;
    }

    void look_up_block(const std::int64_t* places, std::size_t count, const Decisions& documents) {
        probes_.resize(std::max(probes_.size(), count));
        // Copies go by the first of them until it is decided on.
        const auto wanted = [&](std::size_t place) {
            return documents.decision[place] != Decision::kept &&
                   (!is_copy(place, documents) || of_first(place, documents) == Decision::removed);
        };
        in_parallel(count, [&](Worker& worker, std::size_t first, std::size_t last) {
            prepare(worker, places, first, last, wanted);
            for (std::size_t i = first; i < last; ++i) {
                const auto place = static_cast<std::size_t>(places[i]);
                if (!wanted(place)) continue;
                Nearest nearest = known(place, documents);
                worker.search(probes_[i], nearest);
                record(place, nearest, documents);
            }
        });
    }

    void add_pair(const Probe& probe, std::size_t other, double similarity,
                  std::vector<SimilarPair>& found) const {
        const std::uint64_t place = probe.place;
        found.push_back(
            {std::min<std::uint64_t>(place, other) << 32 | std::max<std::uint64_t>(place, other),
             similarity});
    }

    std::size_t pairs_one_by_one(const std::int64_t* places, std::size_t count, const Part& part,
                                 std::size_t most, std::vector<SimilarPair>& found) {
        probes_.resize(std::max(probes_.size(), count));
        every_.resize(std::max(every_.size(), std::size_t{1}));
        Worker& worker = *workers_[0];
        prepare(worker, places, 0, count, [](std::size_t) { return true; });
        std::size_t done = 0;
        for (; done < count && found.size() < most && !(part.insert && full()); ++done) {
            every_[0].clear();
            Every wanted{index_.threshold, every_[0]};
            if (part.search) worker.search(probes_[done], wanted);
            for (const auto& [number, similarity] : every_[0])
                add_pair(probes_[done], index_.kept[number].place, similarity, found);
            if (part.insert) insert(probes_[done]);
        }
        return done;
    }

    std::size_t pairs_together(const std::int64_t* places, std::size_t count, const Part& part,
                               std::vector<SimilarPair>& found) {
        probes_.resize(std::max(probes_.size(), count));
        every_.resize(std::max(every_.size(), count));
        in_parallel(count, [&](Worker& worker, std::size_t first, std::size_t last) {
            prepare(worker, places, first, last, [](std::size_t) { return true; });
            for (std::size_t i = first; i < last; ++i) {
                every_[i].clear();
                Every wanted{index_.threshold, every_[i]};
                if (part.search) worker.search(probes_[i], wanted);
            }
        });
        for (std::size_t i = 0; i < count; ++i)
            for (const auto& [number, similarity] : every_[i])
                add_pair(probes_[i], index_.kept[number].place, similarity, found);
        if (!part.insert) return count;
        for (std::size_t i = 0; i < count; ++i)
            index_.insert(probes_[i], static_cast<std::uint32_t>(i), newest_);
        if (part.search) {
            in_parallel(count, [&](Worker& worker, std::size_t first, std::size_t last) {
                for (std::size_t i = first; i < last; ++i) {
                    every_[i].clear();
                    Every wanted{index_.threshold, every_[i]};
                    worker.search_block(probes_[i], newest_, probes_.data(), i, wanted);
                }
            });
            for (std::size_t i = 0; i < count; ++i)
                for (const auto& [number, similarity] : every_[i])
                    add_pair(probes_[i], probes_[number].place, similarity, found);
        }
        newest_.clear();
        for (std::size_t i = 0; i < count; ++i) insert(probes_[i]);
        return count;
    }

    StarIndex<Weighted> index_;
    StarLists newest_;  // of the documents of the block that may be kept, by place in the block
    std::vector<std::uint32_t> newest_numbers_;  // in the index, of those that are
    std::size_t memory_, threads_ = 1;
    std::vector<std::unique_ptr<Worker>> workers_;
    std::vector<Probe> probes_;
    std::vector<Nearest> nearest_;
    std::vector<char> looked_up_;
    std::vector<std::vector<std::pair<std::uint32_t, double>>> every_;
};

}  // namespace

std::unique_ptr<StarJoin> star_join(const StoredFeatures& stored, DocumentCounts& counts,
                                    Measure measure, double threshold, std::size_t features,
                                    std::size_t memory) {
    counts.finish(1);
    if (stored.weighted())
        return std::make_unique<Join<true>>(stored, counts, measure, threshold, features, memory);
    return std::make_unique<Join<false>>(stored, counts, measure, threshold, features, memory);
}

void stars_of_pairs(const std::int64_t* places, std::size_t count, const PairList& pairs,
                    const double* similarities, const Decisions& documents, std::size_t all) {
    // The pairs of each document, as a list of those it is paired with.
    struct Partner {
        std::uint32_t document;
        double similarity;
    };
    std::vector<std::size_t> starts(all + 2);
    for (std::size_t i = 0; i < pairs.count; ++i) {
        ++starts[static_cast<std::size_t>(pairs.a[i]) + 2];
        ++starts[static_cast<std::size_t>(pairs.b[i]) + 2];
    }
    for (std::size_t i = 2; i < starts.size(); ++i) starts[i] += starts[i - 1];
    std::vector<Partner> partners(2 * pairs.count);
    for (std::size_t i = 0; i < pairs.count; ++i) {
        const auto a = static_cast<std::size_t>(pairs.a[i]),
                   b = static_cast<std::size_t>(pairs.b[i]);
        partners[starts[a + 1]++] = {static_cast<std::uint32_t>(b), similarities[i]};
        partners[starts[b + 1]++] = {static_cast<std::uint32_t>(a), similarities[i]};
    }
    // Pairs are of any one of the copies. `kept` is the kept one of them, and when it was kept.
    struct Kept {
        std::int64_t place = -1;
        std::size_t turn = 0;
    };
    std::vector<std::int64_t> named(all);
    for (std::size_t i = 0; i < all; ++i) named[i] = -1;
    for (std::size_t place = 0; place < all; ++place)
        if (starts[place + 1] != starts[place])
            named[static_cast<std::size_t>(documents.copy_of[place])] =
                static_cast<std::int64_t>(place);
    std::vector<Kept> kept(all);
    for (std::size_t turn = 0; turn < count; ++turn) {
        const auto place = static_cast<std::size_t>(places[turn]);
        const auto own = static_cast<std::size_t>(documents.copy_of[place]);
        if (documents.decision[place] == Decision::kept) {
            kept[own] = {places[turn], turn};
            continue;
        }
        double best = kept[own].place >= 0 ? 1 : -1;
        Kept found = kept[own];
        if (found.place < 0 && named[own] >= 0) {
            const auto by = static_cast<std::size_t>(named[own]);
            for (std::size_t i = starts[by]; i < starts[by + 1]; ++i) {
                const Kept& other =
                    kept[static_cast<std::size_t>(documents.copy_of[partners[i].document])];
                if (other.place < 0 || partners[i].similarity < best) continue;
                if (partners[i].similarity > best || other.turn < found.turn) found = other;
                best = partners[i].similarity;
            }
        }
        const bool removed = found.place >= 0;
        documents.decision[place] = removed ? Decision::removed : Decision::kept;
        if (!removed) {
            kept[own] = {places[turn], turn};
            continue;
        }
        documents.kept_for[place] = found.place;
        documents.similarity[place] = best;
    }
}

}  // namespace neardup
