#include "neardup/join/search.hpp"

#include <algorithm>
#include <atomic>

#include "neardup/join/top_buckets.hpp"
#include "neardup/parallel.hpp"

namespace neardup {

namespace {

// Shares a search out to workers. Buckets are tasks, save those so large that the other workers
// would wait for them: these are divided by all workers together.
class SharedSearch {
  public:
    SharedSearch(const SearchSettings& settings, const MakePlan& make_plan)
        : settings_(settings), limit_(settings.most_pairs, settings.threads) {
        for (std::size_t i = 0; i < settings.threads; ++i)
            workers_.push_back(std::make_unique<Worker>(settings, make_plan(), limit_));
        too_large_ =
            std::max<std::size_t>(settings.sides.count() / (4 * settings.threads), 16 << 10);
    }

    Found run() {
        const Sides& sides = settings_.sides;
        SameNode root;
        for (const auto& worker : workers_) root.push_back(&worker->root());
        const std::size_t blocks = root[0]->division(sides.count())->masks.size();
        for (std::size_t block = 0; block < blocks; ++block) {
            const SameNode node = child(root, sides.count(), block);
            const BitMask& mask = node[0]->mask();
            if (sides.words == 1)
                spread(AllWords{sides, mask.word_key()}, sides.count(), node, 0, 0);
            else
                spread(AllRows{sides, mask}, sides.count(), node, 0, 0);
        }
        return gathered();
    }

  private:
    // One node of the plan, in the tree of each worker.
    using SameNode = std::vector<Node*>;

    static SameNode child(const SameNode& node, std::size_t rows, std::size_t block) {
        SameNode children;
        for (Node* own : node) children.push_back(&own->child(*own->division(rows), block));
        return children;
    }

    template <typename Source>
    void spread(const Source& source, std::size_t count, const SameNode& node, unsigned used,
                std::size_t level) {
        while (tops_.size() <= level) tops_.push_back(std::make_unique<TopBuckets>());
        TopBuckets& top = *tops_[level];
        Digit digit{used, 0};
        if (used < node[0]->mask().key_bits())
            digit = next_digit(count, used, node[0]->mask().key_bits());
        top.fill(source, count, digit, settings_.threads);
        used += digit.bits;

        const std::vector<std::size_t> order = top.by_size(2);
        std::size_t large = 0;
        if (workers_.size() > 1)
            while (large < order.size() && top.bucket(order[large]).count > too_large_) ++large;
        std::atomic<std::size_t> next{large};
        parallel_tasks(workers_.size(), workers_.size(), [&](const auto& next_worker) {
            for (std::size_t own = next_worker(); own < workers_.size(); own = next_worker())
                for (std::size_t at = next++; at < order.size(); at = next++)
                    workers_[own]->descend(top.bucket(order[at]), *node[own], used, 0);
        });
        for (std::size_t at = 0; at < large; ++at)
            descend(top.bucket(order[at]), node, used, level + 1);
    }

    // As Worker::descend, by all of them.
    void descend(const Items& items, const SameNode& node, unsigned used, std::size_t level) {
        const Sides& sides = settings_.sides;
        if (used < node[0]->mask().key_bits()) {
            if (sides.words == 1)
                spread(SomeWords{items, node[0]->mask().word_key()}, items.count, node, used,
                       level);
            else
                spread(KeyedRows{items}, items.count, node, used, level);
            return;
        }
        const Division* division = node[0]->division(items.count);
        if (division == nullptr) {
            workers_[0]->descend(items, *node[0], used, 0);
            return;
        }
        for (std::size_t block = 0; block < division->masks.size(); ++block) {
            const SameNode below = child(node, items.count, block);
            const BitMask& mask = below[0]->mask();
            if (sides.words == 1)
                spread(SomeWords{items, mask.word_key()}, items.count, below, 0, level);
            else
                spread(SomeRows{sides, mask, items.places}, items.count, below, 0, level);
        }
    }

    Found gathered() {
        Found all;
        std::vector<std::vector<FoundPair>> parts;
        for (const auto& worker : workers_) {
            parts.push_back(std::move(worker->found().pairs));
            all.count += worker->found().count;
        }
        if (settings_.keep) limit_.check(all.count);
        all.pairs = gather_pairs(parts);
        return all;
    }

    const SearchSettings& settings_;
    PairLimit limit_;
    std::vector<std::unique_ptr<Worker>> workers_;
    std::vector<std::unique_ptr<TopBuckets>> tops_;
    std::size_t too_large_;
};

}  // namespace

Found search(const SearchSettings& settings, const MakePlan& make_plan) {
    return SharedSearch(settings, make_plan).run();
}

}  // namespace neardup
