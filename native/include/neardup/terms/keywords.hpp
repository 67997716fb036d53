// Texts → the words that may become keywords, and the best of them.
// kernels/reference/keywords.py is the twin.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "neardup/terms/kernels.hpp"
#include "neardup/terms/segmenter.hpp"
#include "neardup/terms/term_list.hpp"
#include "neardup/terms/text_terms.hpp"
#include "neardup/text/recipe.hpp"

namespace neardup {

struct HanCount {
    std::uint32_t characters;  // Han characters of a text
    bool segmented;            // whether some of them are in the dictionary's range
};

HanCount count_han(const std::uint8_t* text, std::size_t size);

// The words of texts that may become keywords, with their counts. `chinese` texts are cut by the
// segmenter as they are. Others are lower-cased, and only their runs of Han characters are cut by
// it; words of one character are left out unless the script writes no spaces. Without a segmenter
// no text may be Chinese or have characters of the dictionary's range.
FoundTerms keyword_candidates(const Column& texts, const std::uint8_t* chinese,
                              const Segmenter* segmenter, const TermKernels& kernels);

// Places of the `count` entries with the greatest weights of each document, the greatest first. On
// ties the term that comes first by its bytes or, where in_order[i] is set, the entry that does.
std::vector<std::int64_t> best_entries(const TermList& terms, const std::int64_t* offsets,
                                       std::size_t documents, const std::int32_t* places,
                                       const double* weights, const std::uint8_t* in_order,
                                       std::size_t count, std::vector<std::int64_t>& kept);

}  // namespace neardup
