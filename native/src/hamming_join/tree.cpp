#include "neardup/hamming_join/tree.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace neardup {

namespace {

BitMask mask_of(const BitList& bits, std::size_t limbs) {
    std::vector<std::uint64_t> row(limbs);
    for (const std::uint16_t bit : bits) row[bit / 64] |= std::uint64_t{1} << (63 - bit % 64);
    return {row.data(), limbs};
}

// Cut bits into blocks of about the same size.
std::vector<BitList> cut(const BitList& bits, std::size_t blocks) {
    std::vector<BitList> parts;
    for (std::size_t i = 0; i < blocks; ++i)
        parts.emplace_back(
            bits.begin() + static_cast<std::ptrdiff_t>(i * bits.size() / blocks),
            bits.begin() + static_cast<std::ptrdiff_t>((i + 1) * bits.size() / blocks));
    return parts;
}

void append(BitList& bits, const BitList& more) {
    bits.insert(bits.end(), more.begin(), more.end());
}

// The share of random numbers of `bits` bits that have at most `most` ones.
double share_within(int bits, std::size_t most) {
    double sum = 0, choices = 1;
    for (int ones = 0; ones <= bits && static_cast<std::size_t>(ones) <= most; ++ones) {
        sum += choices;
        choices *= static_cast<double>(bits - ones) / (ones + 1);
    }
    return std::ldexp(sum, -bits);
}

// Where a quarter of a limb lets more pairs through, looking at them again costs too much.
constexpr double kMostLetThrough = 1.0 / 256;

}  // namespace

std::size_t Division::owner(const std::uint64_t* x, const std::uint64_t* y) const {
    std::size_t owner = 0;
    if (blocks.empty()) {
        while (owner < masks.size() && !masks[owner].agree(x, y)) ++owner;
        return owner;
    }
    // Behind the last of the highest points of a sum to which a block adds its differences less
    // one, every stretch adds less than nothing, also around the ring, which as a whole does.
    std::size_t differences = 0, highest = 0;
    for (std::size_t block = 1; block < masks.size(); ++block) {
        differences += masks[block - 1].differences(x, y);
        if (differences + owner < highest + block) continue;
        owner = block;
        highest = differences;
    }
    return owner;
}

Node::Node(TreeSettings& settings, const Node* parent, const Division* parent_division,
           std::size_t index)
    : settings_(settings), parent_(parent), parent_division_(parent_division), index_(index) {
    choice_.fill(-1);
    if (parent_ == nullptr) {
        if (settings_.bits < 64) unequal_ = ~(~std::uint64_t{0} >> settings_.bits);
        return;
    }
    unequal_ = parent_->unequal_ & ~mask().bits_of(0);
}

std::unique_ptr<Node> Node::root(TreeSettings& settings, std::size_t budget) {
    std::unique_ptr<Node> root(new Node(settings, nullptr, nullptr, 0));
    root->offer(root->outside({}), budget);
    root->decide();
    return root;
}

std::unique_ptr<Node> Node::root_by_blocks(TreeSettings& settings, std::vector<BitList> blocks) {
    std::unique_ptr<Node> root(new Node(settings, nullptr, nullptr, 0));
    root->options_.push_back({{}, blocks.size() - 1, root->divide(std::move(blocks))});
    root->choice_.fill(0);
    return root;
}

std::unique_ptr<Node> Node::root_by_masks(TreeSettings& settings, const std::uint64_t* masks,
                                          std::size_t count, const std::size_t* budget) {
    std::unique_ptr<Node> root(new Node(settings, nullptr, nullptr, 0));
    auto division = std::make_unique<Division>();
    for (std::size_t i = 0; i < count; ++i)
        division->masks.emplace_back(masks + i * settings.limbs, settings.limbs);
    division->children.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
        std::unique_ptr<Node> child(new Node(settings, root.get(), division.get(), i));
        if (budget != nullptr) {
            BitList others;
            for (std::size_t bit = 0; bit < settings.bits; ++bit)
                if ((division->masks[i].bits_of(bit / 64) >> (63 - bit % 64) & 1) == 0)
                    others.push_back(static_cast<std::uint16_t>(bit));
            child->offer(std::move(others), *budget);
        }
        child->decide();
        division->children[i] = std::move(child);
    }
    root->options_.push_back({{}, 0, std::move(division)});
    root->choice_.fill(0);
    return root;
}

void Node::offer(BitList bits, std::size_t budget) {
    if (bits.size() > budget) options_.push_back({std::move(bits), budget, nullptr});
}

// Take the bits that tell most rows apart: as many as there are for the half, and for the quarter
// those of the option here or above that lets the fewest pairs through.
void Node::choose_screen() {
    int seen = -1;
    for (int turn = 0; turn < 64; turn += 8) {
        const int here = std::popcount(static_cast<std::uint32_t>(std::rotl(unequal_, turn)));
        if (here > seen) {
            seen = here;
            screen_.half_turn = turn;
        }
    }
    if (settings_.limbs != 1) return;
    double least = kMostLetThrough;
    for (const Node* node = this; node != nullptr; node = node->parent_)
        for (const Option& option : node->options_) {
            const std::uint64_t bits = mask_of(option.bits, 1).bits_of(0) & unequal_;
            for (int turn = 0; turn < 64; ++turn) {
                const auto quarter = static_cast<std::uint16_t>(std::rotl(bits, turn));
                const double share = share_within(std::popcount(quarter), option.budget);
                if (share >= least) continue;
                least = share;
                screen_.turn = turn;
                screen_.quarter = quarter;
                screen_.most = static_cast<std::uint32_t>(option.budget);
            }
        }
}

// Choose, for each order of magnitude of rows, the cheapest way on.
void Node::decide() {
    choose_screen();
    compared_ = ~std::size_t{0};
    for (std::size_t width = 1; width < choice_.size(); ++width) {
        const double rows = 1.4 * static_cast<double>(std::uint64_t{1} << (width - 1));
        double least = settings_.model.compared(rows);
        for (std::size_t i = 0; i < options_.size(); ++i) {
            const double cost =
                settings_.model.divided(rows, options_[i].bits.size(), options_[i].budget);
            if (cost < least) {
                least = cost;
                choice_[width] = static_cast<std::int16_t>(i);
            }
        }
        if (choice_[width] >= 0)
            compared_ = std::min<std::size_t>(compared_, (std::size_t{1} << (width - 1)) - 1);
    }
}

Division* Node::division(std::size_t rows) {
    const std::int16_t choice = choice_[static_cast<std::size_t>(std::bit_width(rows))];
    if (choice < 0) return nullptr;
    Option& option = options_[static_cast<std::size_t>(choice)];
    if (!option.division) option.division = divide(cut(option.bits, option.budget + 1));
    return option.division.get();
}

std::unique_ptr<Division> Node::divide(std::vector<BitList> blocks) const {
    auto division = std::make_unique<Division>();
    for (const BitList& block : blocks) division->masks.push_back(mask_of(block, settings_.limbs));
    division->children.resize(blocks.size());
    division->blocks = std::move(blocks);
    return division;
}

// The bits that belong to no block of a division.
BitList Node::outside(const Division& division) const {
    std::vector<bool> inside(settings_.bits);
    for (const BitList& block : division.blocks)
        for (const std::uint16_t bit : block) inside[bit] = true;
    BitList bits;
    for (std::size_t bit = 0; bit < settings_.bits; ++bit)
        if (!inside[bit]) bits.push_back(static_cast<std::uint16_t>(bit));
    return bits;
}

std::size_t Node::compared_up_to(unsigned used) const {
    return used < mask().key_bits() ? std::min(settings_.model.worth_a_digit(), compared_)
                                    : compared_;
}

Node& Node::child(Division& division, std::size_t block) {
    std::unique_ptr<Node>& child = division.children[block];
    if (child) return *child;
    child.reset(new Node(settings_, this, &division, block));
    const std::size_t budget = division.blocks.size() - 1;
    BitList bits;
    for (std::size_t next = 1; next <= budget; ++next) {
        append(bits, division.blocks[(block + next) % (budget + 1)]);
        // Blocks that were given need not hold all bits; what lies outside may differ as well.
        if (next == budget && parent_ == nullptr) append(bits, outside(division));
        // Doubling steps: with hundreds of blocks, every number of them would be too many options.
        if (std::has_single_bit(next) || next == budget) child->offer(bits, next);
    }
    child->decide();
    return *child;
}

bool Node::owns(const std::uint64_t* x, const std::uint64_t* y) const {
    for (const Node* node = this; node->parent_ != nullptr; node = node->parent_)
        if (!node->mask().agree(x, y) || node->parent_division_->owner(x, y) != node->index_)
            return false;
    return true;
}

}  // namespace neardup
