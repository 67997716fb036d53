#include "neardup/hamming_join/join.hpp"

#include "neardup/hamming_join/partition.hpp"
#include "neardup/hamming_join/search.hpp"

namespace neardup {

namespace {

std::vector<BitList> bits_of(const std::vector<Block>& blocks) {
    std::vector<BitList> lists;
    for (const Block& block : blocks) {
        BitList& bits = lists.emplace_back();
        for (std::size_t bit = block.start; bit < block.stop; ++bit)
            bits.push_back(static_cast<std::uint16_t>(bit));
    }
    return lists;
}

}  // namespace

std::vector<FoundPair> join_within(const Sides& sides, std::size_t bits, std::uint32_t distance,
                                   const std::vector<Block>& blocks, const HammingCosts& costs,
                                   std::size_t threads, const HammingKernels& kernels,
                                   std::uint64_t most_pairs) {
    const auto make_plan = [&] {
        auto plan = std::make_unique<Plan>(
            Plan{{sides.limbs, bits, {costs, sides.limbs, distance}}, nullptr});
        plan->root = blocks.empty() ? Node::root(plan->settings, distance)
                                    : Node::root_by_blocks(plan->settings, bits_of(blocks));
        return plan;
    };
    if (make_plan()->root->division(sides.count()) == nullptr)
        return scan_pairs(sides, nullptr, distance, threads, kernels, most_pairs);
    const std::size_t useful = useful_threads(threads, sides.count());
    Found found = search({sides, distance, true, useful, kernels, most_pairs}, make_plan);
    sort_pairs(found.pairs);
    return std::move(found.pairs);
}

MaskJoin join_masks(const Sides& sides, const Masks& masks, std::uint32_t most, bool keep,
                    const HammingCosts& costs, std::size_t threads, const HammingKernels& kernels,
                    std::uint64_t most_pairs) {
    if (masks.count == 0) return {{}, 0};
    const std::size_t budget = most;
    const auto make_plan = [&] {
        auto plan = std::make_unique<Plan>(
            Plan{{sides.limbs, 64 * sides.limbs, {costs, sides.limbs, most}}, nullptr});
        plan->root = Node::root_by_masks(plan->settings, masks.rows, masks.count,
                                         most == kAnyDistance ? nullptr : &budget);
        return plan;
    };
    const std::size_t useful = useful_threads(threads, sides.count());
    Found found = search({sides, most, keep, useful, kernels, most_pairs}, make_plan);
    sort_pairs(found.pairs);
    return {std::move(found.pairs), found.count};
}

}  // namespace neardup
