#include "neardup/set_join/star_join.hpp"

#include <algorithm>
#include <atomic>
#include <bit>

#include "neardup/parallel.hpp"
#include "neardup/set_join/star_worker.hpp"

namespace neardup {

namespace {

// Documents that are looked up at a time, by all threads, before any of them is decided on; the
// index grows by the kept ones afterwards. At most so many features, which may have to be held.
constexpr std::size_t kFirstBlock = 64, kLargestBlock = 1024, kBlockFeatures = 1 << 21;
constexpr std::size_t kTask = 8;  // documents that a thread takes at a time
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
          newest_(kNewestBits),
          memory_(std::min(memory, kMostPostingBytes)) {}

    std::size_t decide(const std::int64_t* places, std::size_t count, const Decisions& documents,
                       std::size_t threads) override {
        make_workers(threads);
        std::size_t done = 0;
        while (done < count && !full()) {
            const std::size_t block = block_size(places + done, count - done, kLargestBlock);
            decide_block(places + done, block, documents);
            done += block;
        }
        return done;
    }

    void look_up(const std::int64_t* places, std::size_t count, const Decisions& documents,
                 std::size_t threads) override {
        make_workers(threads);
        probes_.resize(std::max(probes_.size(), workers_.size()));
        in_parallel(count, [&](std::size_t worker, std::size_t i) {
            const auto place = static_cast<std::size_t>(places[i]);
            const auto first = static_cast<std::size_t>(documents.copy_of[place]);
            // Copies go by the first of them until it is decided on.
            if (documents.decision[place] == Decision::kept) return;
            if (first != place && documents.decision[first] != Decision::removed) return;
            Nearest nearest = known(place, documents);
            workers_[worker]->prepare(place, probes_[worker]);
            workers_[worker]->search(probes_[worker], index_.lists, true, nearest);
            record(place, nearest, documents);
        });
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
            pairs_of_block(places + done, block, part, found);
            done += block;
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

    // Call work(worker, i) for each of `count` documents.
    template <typename Work>
    void in_parallel(std::size_t count, const Work& work) {
        std::atomic<std::size_t> free_worker{0};
        const std::size_t tasks = (count + kTask - 1) / kTask;
        parallel_tasks(tasks, threads_, [&](const auto& next) {
            const std::size_t worker = free_worker.fetch_add(1);
            for (std::size_t task = next(); task < tasks; task = next())
                for (std::size_t i = task * kTask; i < std::min(count, (task + 1) * kTask); ++i)
                    work(worker, i);
        });
    }

    // With one thread, documents are decided on one by one.
    std::size_t block_size(const std::int64_t* places, std::size_t count, std::size_t most) const {
        if (threads_ == 1) return 1;
        const std::size_t wanted =
            std::min({count, most, std::max(kFirstBlock, index_.kept.size() / 2)});
        std::size_t features = 0, block = 0;
        while (block < wanted && features < kBlockFeatures)
            features += index_.stored.size(static_cast<std::size_t>(places[block++]));
        return block;
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

    void decide_block(const std::int64_t* places, std::size_t count, const Decisions& documents) {
        probes_.resize(std::max(probes_.size(), count));
        nearest_.assign(count, Nearest{index_.threshold});
        looked_up_.assign(count, 0);
        const auto is_copy = [&](std::size_t place) {
            return documents.copy_of[place] != static_cast<std::int64_t>(place);
        };
        const auto first_of = [&](std::size_t place) {
            return documents.decision[documents.copy_of[place]];
        };
        in_parallel(count, [&](std::size_t worker, std::size_t i) {
            const auto place = static_cast<std::size_t>(places[i]);
            if (is_copy(place) && first_of(place) != Decision::removed) return;
            workers_[worker]->prepare(place, probes_[i]);
            if (documents.decision[place] == Decision::kept) return;
            nearest_[i] = known(place, documents);
            workers_[worker]->search(probes_[i], index_.lists, true, nearest_[i]);
            looked_up_[i] = 1;
        });
        PostingLists* newest = count > 1 ? &newest_ : nullptr;
        Worker& worker = *workers_[0];
        for (std::size_t i = 0; i < count; ++i) {
            const auto place = static_cast<std::size_t>(places[i]);
            if (documents.decision[place] == Decision::kept) {
                insert(probes_[i], newest);
                continue;
            }
            if (is_copy(place)) {
                if (first_of(place) == Decision::kept) {
                    documents.decision[place] = Decision::removed;
                    documents.kept_for[place] = documents.copy_of[place];
                    documents.similarity[place] = 1;
                    continue;
                }
                // The first of them was decided on in this block: what it found holds here too.
                if (looked_up_[i] == 0) {
                    worker.prepare(place, probes_[i]);
                    nearest_[i] = known(place, documents);
                }
            }
            if (newest != nullptr) worker.search(probes_[i], *newest, false, nearest_[i]);
            record(place, nearest_[i], documents);
            const bool removed = documents.kept_for[place] != static_cast<std::int64_t>(place);
            documents.decision[place] = removed ? Decision::removed : Decision::kept;
            if (!removed) insert(probes_[i], newest);
        }
        if (newest != nullptr) newest->clear();
    }

    void insert(const Probe& probe, PostingLists* newest) {
        if (!probe.prefix.features.empty()) index_.insert(probe, newest);
    }

    void pairs_of_block(const std::int64_t* places, std::size_t count, const Part& part,
                        std::vector<SimilarPair>& found) {
        probes_.resize(std::max(probes_.size(), count));
        every_.resize(std::max(every_.size(), count));
        in_parallel(count, [&](std::size_t worker, std::size_t i) {
            every_[i].clear();
            workers_[worker]->prepare(static_cast<std::size_t>(places[i]), probes_[i]);
            Every wanted{index_.threshold, every_[i]};
            if (part.search) workers_[worker]->search(probes_[i], index_.lists, true, wanted);
        });
        PostingLists* newest = count > 1 && part.insert ? &newest_ : nullptr;
        for (std::size_t i = 0; i < count; ++i) {
            Every wanted{index_.threshold, every_[i]};
            if (newest != nullptr && part.search)
                workers_[0]->search(probes_[i], *newest, false, wanted);
            if (part.insert) insert(probes_[i], newest);
            for (const auto& [number, similarity] : every_[i]) {
                const std::uint64_t place = probes_[i].place, other = index_.kept[number].place;
                found.push_back(
                    {std::min(place, other) << 32 | std::max(place, other), similarity});
            }
        }
        if (newest != nullptr) newest->clear();
    }

    StarIndex<Weighted> index_;
    PostingLists newest_;  // of the documents of the block that are already kept
    std::size_t memory_, threads_ = 1;
    std::vector<std::unique_ptr<Worker>> workers_;
    std::vector<Probe> probes_;
    std::vector<Nearest> nearest_;
    std::vector<char> looked_up_;
    std::vector<std::vector<std::pair<std::uint32_t, double>>> every_;
};

}  // namespace

std::unique_ptr<StarJoin> star_join(const StoredFeatures& stored, const DocumentCounts& counts,
                                    Measure measure, double threshold, std::size_t features,
                                    std::size_t memory) {
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
