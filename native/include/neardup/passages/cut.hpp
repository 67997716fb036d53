// Texts → passages: stretches that cover a text without gaps. kernels/passages.py states the rules;
// kernels/reference/passages.py is the twin.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "neardup/text/recipe.hpp"

namespace neardup {

enum class PassageUnit { line, paragraph, sentence };

// Text i has the passages documents[i] … documents[i + 1]. Passage j begins at begins[j] of the
// column's data, and ends where the next one of its text begins, or with the text.
struct Passages {
    std::vector<std::int64_t> documents;
    std::vector<std::int64_t> begins;
};

Passages cut_passages(const Column& texts, PassageUnit unit, std::size_t threads);

// Which passages begin a window of about `size` words. A window is made of whole passages, and ends
// behind one whose `keys`, two words each, say so, so that the same text is divided in the same way
// wherever it stands.
std::vector<std::uint8_t> begin_windows(const std::int64_t* documents, std::size_t texts,
                                        const std::uint32_t* words, const std::uint64_t* keys,
                                        std::size_t size);

}  // namespace neardup
