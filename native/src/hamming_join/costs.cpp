#include "neardup/hamming_join/costs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "neardup/hamming_join/kernels.hpp"
#include "neardup/hamming_join/partition.hpp"

namespace neardup {

namespace {

constexpr std::size_t kMostSamples = 12;

// How many limbs of a pair are looked at. For few bits, half a limb tells nearly all pairs apart;
// in wider rows, differences add up and most pairs are given up as soon as they are too many.
double limbs_compared(std::size_t limbs, std::uint32_t most) {
    if (limbs == 1) return most <= kFewBits ? 0.5 : 1;
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
    const std::size_t samples = std::min(budget + 1, kMostSamples);
    double sum = 0;
    for (std::size_t i = 0; i < samples; ++i) {
        const std::size_t earlier = samples == 1 ? 0 : i * budget / (samples - 1);
        const std::size_t later = std::max<std::size_t>(1, budget - earlier);
        sum += once + (left < 4 ? compared(left) : cheapest(left, later * block, later, depth - 1));
    }
    const double cost = sum / static_cast<double>(samples) * static_cast<double>(budget + 1);
    known_.emplace(question, cost);
    return cost;
}

}  // namespace neardup
