// Queries over the segments and the tail of an index of sets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "neardup/set_index/segment.hpp"
#include "neardup/set_index/tail.hpp"

namespace neardup {

// One state of an index. The tail may be missing.
struct SetView {
    std::vector<const SetSegment*> segments;
    std::vector<DeadNumbers> dead;  // of each segment
    const SetTail* tail;
    std::uint64_t revision;  // of the tail
};

struct FoundSets {
    std::vector<std::int64_t> offsets;  // of the matches of each document
    std::vector<std::uint64_t> numbers;
    std::vector<double> similarities;
};

// The best matches of one document, except the one of number `skip`.
std::vector<SetMatch> search_set(const SetView& view, const IndexedSet& asked, const SetPlan& plan,
                                 const SetQuestion& question, std::uint64_t skip,
                                 const SetKernels& kernels);

// The best matches of every document. `skip` has the number of a document that each one must not
// match, or kNoNumber; it may be null.
FoundSets search_sets(const SetView& view, const SetDocuments& documents,
                      const SetQuestion& question, const std::uint64_t* skip, std::size_t threads,
                      const SetKernels& kernels);

}  // namespace neardup
