// The expected cost of a join, to choose between comparing rows and dividing them further.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

namespace neardup {

// In nanoseconds. They affect the speed only, never the result.
struct HammingCosts {
    double compare;  // one comparison of 64 bits inside a bucket
    double move;     // moving a row into its bucket
    double bucket;   // opening one bucket
};

class CostModel {
  public:
    CostModel(const HammingCosts& costs, std::size_t limbs, std::uint32_t most);

    // Per row, comparing every pair of `rows` rows.
    double compared(double rows) const { return compare_ * rows / 2; }

    // Per row, the cheaper of comparing and dividing by `budget` + 1 blocks of `bits` bits, where
    // at most `budget` of the bits differ.
    double cheapest(double rows, std::size_t bits, std::size_t budget) {
        return cheapest(rows, bits, budget, 5);
    }

    // Per row, dividing; infinite where there are too few bits.
    double divided(double rows, std::size_t bits, std::size_t budget) {
        return divided(rows, bits, budget, 5);
    }

    // Above this number of rows, partitioning by another digit of the key is cheaper than
    // comparing.
    std::size_t worth_a_digit() const { return worth_a_digit_; }

  private:
    double cheapest(double rows, std::size_t bits, std::size_t budget, int depth);
    double divided(double rows, std::size_t bits, std::size_t budget, int depth);

    double compare_, move_, bucket_;
    std::size_t worth_a_digit_;
    std::unordered_map<std::uint64_t, double> known_;
};

}  // namespace neardup
