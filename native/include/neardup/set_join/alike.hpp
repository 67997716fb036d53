// Documents that are linked because they share a value and have sizes that are alike enough.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace neardup {

// Values of documents: of each the document, by its number, and the size of the document.
struct Postings {
    const std::uint64_t* values;
    const double* sizes;
    const std::int64_t* documents;
    std::size_t count;
};

// The linked documents, ascending; the first document of the component of each; a posting of each.
struct LinkedDocuments {
    std::vector<std::int64_t> documents, firsts, postings;
    std::size_t links = 0;
};

// Among the documents of each value, by size and then number, link each to the next if its size is
// at least `ratio` of the size of that. There are fewer than 2^32 postings.
LinkedDocuments link_alike(const Postings& postings, double ratio);

}  // namespace neardup
