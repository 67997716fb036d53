// What each pass over a text costs, for one instruction set.
#pragma once

#include <cstdint>

#include "neardup/isa.hpp"
#include "neardup/text/recipe.hpp"

namespace neardup {

// Ticks of the processor's clock that a pass took over a whole column.
struct TextPasses {
    std::uint64_t tokenize, units, shingle, distinct, majority, fingerprint, sorted_set, weigh,
        utf8;
    std::uint64_t seen;  // of the results, so that no pass is left out as useless
};

NEARDUP_IN_EVERY_ISA(TextPasses text_passes(const Column&, const Recipe&);)

}  // namespace neardup
