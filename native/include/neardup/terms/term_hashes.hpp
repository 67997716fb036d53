// Terms → nd1 features, plain or keyed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "neardup/terms/term_list.hpp"
#include "neardup/terms/text_terms.hpp"
#include "neardup/text/recipe.hpp"

namespace neardup {

// Write `limbs` 64-bit limbs for each term, which consists of units[i]; null: each is one unit.
void term_hashes(const TermList& terms, const TermUnits* units, const HashKey* key,
                 std::size_t limbs, std::uint64_t* rows, std::size_t threads);

}  // namespace neardup
