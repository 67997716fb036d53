#include <algorithm>
#include <numeric>

#include "neardup/room.hpp"
#include "neardup/set_join/join.hpp"

namespace neardup {

void components(std::size_t count, const PairList& pairs, std::int64_t* smallest) {
    // A root is the smallest of its tree, so that no tree needs to be walked at the end.
    Room<std::uint32_t> room;
    std::uint32_t* const parent = room.at_least(count + 1);
    std::iota(parent, parent + count, 0U);
    const auto root = [&](std::uint32_t place) {
        while (parent[place] != place) place = parent[place] = parent[parent[place]];
        return place;
    };
    for (std::size_t i = 0; i < pairs.count; ++i) {
        const std::uint32_t x = root(static_cast<std::uint32_t>(pairs.a[i])),
                            y = root(static_cast<std::uint32_t>(pairs.b[i]));
        parent[std::max(x, y)] = std::min(x, y);
    }
    for (std::size_t i = 0; i < count; ++i)
        smallest[i] = parent[i] == i ? static_cast<std::int64_t>(i) : smallest[parent[i]];
}

}  // namespace neardup
