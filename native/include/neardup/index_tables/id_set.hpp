// The ids seen so far, to find repeated ones: 16 bytes each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "neardup/text/recipe.hpp"

namespace neardup {

// Two ids are taken as equal if 80 bits of their hash agree: among 10^8 ids, the probability that
// any two different ones do is below 10^-8.
class IdSet {
  public:
    struct Repeat {
        std::size_t position;  // in the column just added
        std::int64_t place;    // of the earlier id
    };

    // Add ids with their places in the input (below 2^48), up to the first one seen before.
    std::optional<Repeat> add(const Column& ids, const std::int64_t* places);

    std::size_t size() const { return used_; }

  private:
    struct Slot {
        std::uint64_t hash;            // 0: free
        std::uint64_t more_and_place;  // 16 more bits of hash, 48 bits of place
    };

    void grow();

    std::vector<Slot> slots_;
    std::size_t used_ = 0;
};

}  // namespace neardup
