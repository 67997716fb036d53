#include "neardup/hamming_join/search.hpp"

#include <algorithm>
#include <atomic>

#include "neardup/hamming_join/partition.hpp"
#include "neardup/parallel.hpp"

namespace neardup {

Worker::Worker(const SearchSettings& settings, std::unique_ptr<Plan> plan, PairLimit& limit)
    : settings_(settings), plan_(std::move(plan)), share_(limit) {}

void Worker::descend(const Items& items, Node& node, unsigned used, std::size_t level) {
    const bool whole_key = used == node.mask().key_bits();
    if (!whole_key && items.count > plan_->settings.model.worth_a_digit()) {
        if (settings_.sides.limbs == 1)
            partition_below(SomeLimbs{items, node.mask().limb_key()}, items.count, node, used,
                            level);
        else
            partition_below(KeyedRows{items}, items.count, node, used, level);
        return;
    }
    Division* division = node.division(items.count);
    if (division != nullptr) {
        divide(items, node, *division, level);
        return;
    }
    const std::uint32_t starts[2] = {0, static_cast<std::uint32_t>(items.count)};
    compare(items, node, starts, 1, items.count);
}

void Worker::divide(const Items& items, Node& node, Division& division, std::size_t level) {
    for (std::size_t block = 0; block < division.masks.size(); ++block) {
        Node& child = node.child(division, block);
        if (settings_.sides.limbs == 1)
            partition_below(SomeLimbs{items, child.mask().limb_key()}, items.count, child, 0,
                            level);
        else
            partition_below(SomeRows{settings_.sides, child.mask(), items.places}, items.count,
                            child, 0, level);
    }
}

template <typename Source>
void Worker::partition_below(const Source& source, std::size_t count, Node& node, unsigned used,
                             std::size_t level) {
    while (levels_.size() <= level) levels_.push_back(std::make_unique<ItemRoom>());
    std::uint32_t starts[kMostBuckets + 1];
    const Digit digit = next_digit(count, settings_.sides.limbs, used, node.mask().key_bits());
    const Items items = partition(source, count, digit, starts, *levels_[level]);

    const unsigned now_used = used + digit.bits;
    const std::size_t largest = node.compared_up_to(now_used);
    compare(items, node, starts, digit.buckets(), largest);
    for (std::size_t bucket = 0; bucket < digit.buckets(); ++bucket)
        if (starts[bucket + 1] - starts[bucket] > largest)
            descend(items.part(starts[bucket], starts[bucket + 1]), node, now_used, level + 1);
}

void Worker::compare(const Items& items, Node& node, const std::uint32_t* starts,
                     std::size_t buckets, std::size_t largest) {
    struct Context {
        Worker& worker;
        const Items& items;
        const Node& node;
    } context{*this, items, node};
    const OnPair on_pair{[](void* held, std::size_t i, std::size_t j, std::uint32_t distance) {
                             const auto& [worker, items, node] = *static_cast<Context*>(held);
                             worker.take(items, node, i, j, distance);
                         },
                         &context};
    const Buckets all{items.values, items.places, starts, buckets, largest};
    const Sides& sides = settings_.sides;
    if (sides.limbs == 1)
        settings_.kernels.compare_limbs(all, sides, settings_.most, node.screen(), on_pair);
    else
        settings_.kernels.compare_rows(all, sides, settings_.most,
                                       tile_.at_least(kTileRows * sides.limbs + kPadding), on_pair);
}

void Worker::take(const Items& items, const Node& node, std::size_t i, std::size_t j,
                  std::uint32_t distance) {
    const Sides& sides = settings_.sides;
    const std::size_t a = items.places[i], b = items.places[j];
    const bool is_value = sides.limbs == 1;
    const std::uint64_t* x = is_value ? items.values + i : sides.row(a);
    const std::uint64_t* y = is_value ? items.values + j : sides.row(b);
    if (!node.owns(x, y)) return;
    ++found_.count;
    if (settings_.keep) {
        share_.take_one();
        found_.pairs.emplace_back(a, sides.two ? b - sides.left_count : b, distance);
    }
}

namespace {

// Distributes a search to workers. Buckets are tasks, except those so large that the other workers
// would wait for them: all workers divide these together.
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
            if (sides.limbs == 1)
                spread(AllLimbs{sides, mask.limb_key()}, sides.count(), node, 0, 0);
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
            digit = next_digit(count, settings_.sides.limbs, used, node[0]->mask().key_bits());
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
            if (sides.limbs == 1)
                spread(SomeLimbs{items, node[0]->mask().limb_key()}, items.count, node, used,
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
            if (sides.limbs == 1)
                spread(SomeLimbs{items, mask.limb_key()}, items.count, below, 0, level);
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
