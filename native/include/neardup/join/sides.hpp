// The rows of a join: one collection, or a left and a right one counted through.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../isa.hpp"

namespace neardup {

// Places count through the left rows and then the right ones. Where a collection is joined with
// itself, all rows are left rows.
struct Sides {
    const std::uint64_t* left;
    std::size_t left_count;
    const std::uint64_t* right;
    std::size_t right_count;
    std::size_t words;
    bool two;

    NEARDUP_INLINE std::size_t count() const { return left_count + right_count; }

    NEARDUP_INLINE const std::uint64_t* row(std::size_t place) const {
        return place < left_count ? left + place * words : right + (place - left_count) * words;
    }
};

}  // namespace neardup
