// The search through buckets: one worker per thread goes down the tree of the plan.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "kernels.hpp"
#include "memory.hpp"
#include "pair_limit.hpp"
#include "pairs.hpp"
#include "partition.hpp"
#include "tree.hpp"

namespace neardup {

// What a search is about.
struct SearchSettings {
    Sides sides;
    std::uint32_t most;  // differing bits
    bool keep;           // the pairs, not their number alone
    std::size_t threads;
    const JoinKernels& kernels;
    std::uint64_t most_pairs;  // that are kept
};

// A tree of its own for each worker, so that none waits while another grows it.
struct Plan {
    TreeSettings settings;
    std::unique_ptr<Node> root;
};
using MakePlan = std::function<std::unique_ptr<Plan>()>;

struct Found {
    std::vector<FoundPair> pairs;
    std::uint64_t count = 0;
};

// Every pair that one of the plan's nodes owns, in no order.
Found search(const SearchSettings& settings, const MakePlan& make_plan);

// Goes through the buckets below a node.
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
