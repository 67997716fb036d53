// The plan of a join, extended while it runs: which bits to divide rows by, and when to compare.
//
// A pair within a budget of k differences is equal in one of k + 1 blocks. Seen as a ring, there is
// even a block from which on the first j + 1 blocks hold at most j differences, for every j: else
// the ring would fall into stretches with a difference for each of their blocks, k + 1 in all (Qin
// and Xiao, Pigeonring, 2018). The pair belongs to that block, so that nothing is found twice and
// no set of pairs is kept. Rows that share block i are compared, first by the next block, which has
// at most one difference; or divided again, by the next j blocks, which have at most j.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "neardup/hamming_join/costs.hpp"
#include "neardup/hamming_join/kernels.hpp"
#include "neardup/hamming_join/mask.hpp"

namespace neardup {

using BitList = std::vector<std::uint16_t>;  // bit 0 is the most significant of the first limb

class Node;

// Blocks to divide by, and a child node for the rows that share each block.
struct Division {
    std::vector<BitList> blocks;  // none where masks were given, which may overlap
    std::vector<BitMask> masks;
    std::vector<std::unique_ptr<Node>> children;

    // Which child a pair within the budget belongs to.
    std::size_t owner(const std::uint64_t* x, const std::uint64_t* y) const;
};

// Constant during a join.
struct TreeSettings {
    std::size_t limbs, bits;
    CostModel model;
};

class Node {
  public:
    // The root: any rows, at most `budget` of all bits differing.
    static std::unique_ptr<Node> root(TreeSettings& settings, std::size_t budget);
    // The same, its first division given.
    static std::unique_ptr<Node> root_by_blocks(TreeSettings& settings,
                                                std::vector<BitList> blocks);
    // A root for rows that agree on a mask. Without a budget nothing divides them further.
    static std::unique_ptr<Node> root_by_masks(TreeSettings& settings, const std::uint64_t* masks,
                                               std::size_t count, const std::size_t* budget);

    // How to divide `rows` rows that agree on this node's mask; null: compare them.
    Division* division(std::size_t rows);

    // Up to so many rows are compared, once they agree on `used` bits of the key.
    std::size_t compared_up_to(unsigned used) const;

    // The child for a block of one of this node's divisions.
    Node& child(Division& division, std::size_t block);

    const BitMask& mask() const { return parent_division_->masks[index_]; }

    // Whether a pair is to be found here and at no other node.
    bool owns(const std::uint64_t* x, const std::uint64_t* y) const;

    // How to compare rows of one limb that agree on this node's mask.
    const Screen& screen() const { return screen_; }

  private:
    struct Option {
        BitList bits;
        std::size_t budget;
        std::unique_ptr<Division> division;
    };

    Node(TreeSettings& settings, const Node* parent, const Division* parent_division,
         std::size_t index);
    void offer(BitList bits, std::size_t budget);
    void decide();
    void choose_screen();
    std::unique_ptr<Division> divide(std::vector<BitList> blocks) const;
    BitList outside(const Division& division) const;

    TreeSettings& settings_;
    const Node* parent_;
    const Division* parent_division_;
    std::size_t index_;
    std::uint64_t unequal_ = ~std::uint64_t{0};  // of a single limb: what may differ
    Screen screen_;
    std::vector<Option> options_;
    std::array<std::int16_t, 34> choice_{};  // by the width of the number of rows; -1: compare
    std::size_t compared_ = 0;
};

}  // namespace neardup
