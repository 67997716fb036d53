#include "neardup/join/search.hpp"

namespace neardup {

Worker::Worker(const SearchSettings& settings, std::unique_ptr<Plan> plan, PairLimit& limit)
    : settings_(settings), plan_(std::move(plan)), share_(limit) {}

void Worker::descend(const Items& items, Node& node, unsigned used, std::size_t level) {
    const bool whole_key = used == node.mask().key_bits();
    if (!whole_key && items.count > plan_->settings.model.worth_a_digit()) {
        if (settings_.sides.words == 1)
            partition_below(SomeWords{items, node.mask().word_key()}, items.count, node, used,
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
        if (settings_.sides.words == 1)
            partition_below(SomeWords{items, child.mask().word_key()}, items.count, child, 0,
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
    const Digit digit = next_digit(count, used, node.mask().key_bits());
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
    if (sides.words == 1)
        settings_.kernels.compare_words(all, sides, settings_.most, node.turn(), on_pair);
    else
        settings_.kernels.compare_rows(all, sides, settings_.most,
                                       tile_.at_least(kTileRows * sides.words + kPadding), on_pair);
}

void Worker::take(const Items& items, const Node& node, std::size_t i, std::size_t j,
                  std::uint32_t distance) {
    const Sides& sides = settings_.sides;
    const std::size_t a = items.places[i], b = items.places[j];
    const bool is_value = sides.words == 1;
    const std::uint64_t* x = is_value ? items.values + i : sides.row(a);
    const std::uint64_t* y = is_value ? items.values + j : sides.row(b);
    if (!node.owns(x, y)) return;
    ++found_.count;
    if (settings_.keep) {
        share_.take_one();
        found_.pairs.emplace_back(a, sides.two ? b - sides.left_count : b, distance);
    }
}

}  // namespace neardup
