#include "neardup/text/content_keys.hpp"

#include <bit>

#include "neardup/text/key_chains.hpp"

namespace neardup {

using NEARDUP_ISA::KeyChains;

void content_keys(const WeightedSets& sets, std::uint64_t* keys) {
    for (std::size_t i = 0; i < sets.count; ++i, keys += 2) {
        const auto begin = static_cast<std::size_t>(sets.offsets[i]);
        const auto end = static_cast<std::size_t>(sets.offsets[i + 1]);
        KeyChains chains(end - begin);
        if (sets.weights != nullptr) {
            for (std::size_t at = begin; at < end; ++at)
                chains.add(sets.hashes[at], std::bit_cast<std::uint64_t>(sets.weights[at]));
        } else {
            chains.add_all(sets.hashes + begin, end - begin);
        }
        chains.write(keys);
    }
}

}  // namespace neardup
