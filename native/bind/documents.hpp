// Documents as columns of features, as Python passes them.
#pragma once

#include <optional>
#include <stdexcept>
#include <tuple>

#include "arrays.hpp"

namespace neardup::bind {

using Places = Input<std::int64_t>;
// Offsets, hashes, and weights or none.
using Documents = std::tuple<Places, Input<std::uint64_t>, std::optional<Input<double>>>;

inline constexpr std::size_t kMostDocuments = 0xFFFFFFFF;

// View documents. Checks the offsets, so that no kernel can read outside them.
inline FeatureColumn column_of(const Documents& documents) {
    const auto& [offsets, hashes, weights] = documents;
    if (offsets.size() == 0) throw std::invalid_argument("a column has at least one offset");
    if (weights && weights->size() != hashes.size())
        throw std::invalid_argument("every feature needs its weight");
    const std::int64_t* at = offsets.data();
    const std::size_t count = offsets.size() - 1;
    bool ascending = true;
    for (std::size_t i = 0; i < count; ++i) ascending &= at[i] <= at[i + 1];
    if (!ascending || at[0] < 0 || at[count] > static_cast<std::int64_t>(hashes.size()))
        throw std::invalid_argument("offsets must not decrease, nor point outside the features");
    return {at, count, hashes.data(), weights ? weights->data() : nullptr};
}

}  // namespace neardup::bind
