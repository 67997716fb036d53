// Texts → sentences. features/sentences.py states the rules; kernels/reference/sentences.py is the
// twin.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "neardup/text/recipe.hpp"

namespace neardup {

// Text i has the sentences documents[i] … documents[i + 1]; sentence j is `lengths[j]` bytes of
// the column's data from begins[j] on.
struct Sentences {
    std::vector<std::int64_t> documents;
    std::vector<std::int64_t> begins, lengths;
};

// All sentences or, with `edges`, the title and the first and last sentence of each paragraph.
Sentences cut_sentences(const Column& texts, bool edges, std::size_t threads);

// The places of the `count` sentences with the most words of each text, in the order of the text:
// on ties the one with more code points, then the earlier one; of sentences with the same hash of
// their words, only the first of them. `offsets` receives where the places of each text begin.
std::vector<std::int64_t> longest_sentences(const Column& sentences, const std::int64_t* documents,
                                            std::size_t texts, const std::uint32_t* words,
                                            const std::uint64_t* hashes, std::size_t count,
                                            std::vector<std::int64_t>& offsets);

}  // namespace neardup
