// The features by which a document finds every similar one, by how frequent its features are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace neardup {

// Documents as the features from offsets[i] to offsets[i + 1], in an order that all documents
// share, with the frequency of each (see frequencies.hpp), and weights or none.
struct FrequentFeatures {
    const std::int64_t* offsets;
    std::size_t count;
    const std::uint8_t* frequency;
    const double* weights;
};

// Features by their positions, ascending, and the document of each.
struct FirstFeatures {
    std::vector<std::int64_t> positions, documents;
};

// The first features of all documents.
//
// Features come in the order of their frequency; of equally frequent ones in their own. The first
// ones are those before which others carry no more of the document's weight than a similar document
// may lack: all but `share`. Features that no other document has are left out, and so are documents
// whose other features do not carry `share`. Weights are squared with `squared`.
FirstFeatures first_features(const FrequentFeatures& documents, double share, bool squared);

}  // namespace neardup
