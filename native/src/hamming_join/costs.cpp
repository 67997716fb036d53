#include "neardup/hamming_join/costs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "neardup/hamming_join/kernels.hpp"
#include "neardup/hamming_join/partition.hpp"

namespace neardup {

namespace {

// How many limbs of a pair are looked at. For few bits, a quarter of a limb tells nearly all pairs
// apart; in wider rows, differences add up and most pairs are given up as soon as they are too
// many.
double limbs_compared(std::size_t limbs, std::uint32_t most) {
    if (limbs == 1) return most <= kFewBits ? 0.25 : 1;
    return std::min(static_cast<double>(limbs), 1 + most / 24.0);
}

}  // namespace

CostModel::CostModel(const HammingCosts& costs, std::size_t limbs, std::uint32_t most)
    : compare_(costs.compare * limbs_compared(limbs, most)),
      // A wider row is fetched from where it lies, for its key and again to be compared.
      move_(limbs == 1 ? costs.move : 4 * costs.move),
      bucket_(costs.bucket),
      worth_a_digit_(static_cast<std::size_t>(2 * (costs.move + bucket_ / 8) / compare_) + 2) {}

double CostModel::cheapest(double rows, std::size_t bits, std::size_t budget, int depth) {
    const double compared = this->compared(rows);
    if (depth == 0 || rows < 16) return compared;
    return std::min(compared, divided(rows, bits, budget, depth));
}

double CostModel::divided(double rows, std::size_t bits, std::size_t budget, int depth) {
    const std::size_t block = bits / (budget + 1);
    if (block == 0) return std::numeric_limits<double>::infinity();
    const auto size = static_cast<std::uint64_t>(4 * std::log2(rows));
    const std::uint64_t question =
        ((size * 8 + static_cast<std::uint64_t>(depth)) << 13 | bits) << 13 | budget;
    if (const auto known = known_.find(question); known != known_.end()) return known->second;

    const double used = std::min<double>(static_cast<double>(std::min<std::size_t>(block, 64)),
                                         std::max(1.0, std::log2(rows) - 3));
    const double once = move_ * std::ceil(used / kMostDigitBits) + bucket_ * std::exp2(used) / rows;
    const double left = rows / std::exp2(used);
    double below = compared(left);
    for (std::size_t next = left < 4 ? 0 : std::min<std::size_t>(1, budget); next != 0;
         next = next == budget ? 0 : std::min(2 * next, budget))
        below = std::min(below, cheapest(left, next * block, next, depth - 1));
    const double cost = (once + below) * static_cast<double>(budget + 1);
    known_.emplace(question, cost);
    return cost;
}

}  // namespace neardup
