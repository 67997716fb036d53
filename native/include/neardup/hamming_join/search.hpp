// The search through buckets: one worker per thread descends the tree of the plan.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "neardup/hamming_join/kernels.hpp"
#include "neardup/hamming_join/pairs.hpp"
#include "neardup/hamming_join/partition.hpp"
#include "neardup/hamming_join/tree.hpp"
#include "neardup/pair_limit.hpp"
#include "neardup/room.hpp"

namespace neardup {

// What a search is about.
struct SearchSettings {
    Sides sides;
    std::uint32_t most;  // differing bits
    bool keep;           // the pairs, not their number alone
    std::size_t threads;
    const HammingKernels& kernels;
    std::uint64_t most_pairs;  // that are kept
};

// Each worker has its own tree, so that none waits while another extends it.
struct Plan {
    TreeSettings settings;
    std::unique_ptr<Node> root;
};
using MakePlan = std::function<std::unique_ptr<Plan>()>;

struct Found {
    std::vector<FoundPair> pairs;
    std::uint64_t count = 0;
};

// Every pair that a node of the plan owns, unordered.
Found search(const SearchSettings& settings, const MakePlan& make_plan);

// Searches the buckets below a node.
class Worker {
  public:
    Worker(const SearchSettings& settings, std::unique_ptr<Plan> plan, PairLimit& limit);

    Node& root() { return *plan_->root; }

    // Find the pairs among items that agree on `used` bits of the node's key.
    void descend(const Items& items, Node& node, unsigned used, std::size_t level);

    Found& found() { return found_; }

  private:
    template <typename Source>
    void partition_below(const Source& source, std::size_t count, Node& node, unsigned used,
                         std::size_t level);
    void divide(const Items& items, Node& node, Division& division, std::size_t level);
    void compare(const Items& items, Node& node, const std::uint32_t* starts, std::size_t buckets,
                 std::size_t largest);
    void take(const Items& items, const Node& node, std::size_t i, std::size_t j,
              std::uint32_t distance);

    const SearchSettings& settings_;
    std::unique_ptr<Plan> plan_;
    std::vector<std::unique_ptr<ItemRoom>> levels_;
    Room<std::uint64_t> tile_;
    PairLimit::Share share_;
    Found found_;
};

}  // namespace neardup
