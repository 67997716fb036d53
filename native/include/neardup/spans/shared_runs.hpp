// The longest runs of words that two documents share, in linear time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace neardup {

// The hashes of the words of a document, in order; fewer than 2^31.
struct WordSequence {
    const std::uint64_t* hashes;
    std::size_t count;
};

// `length` words from word `a` of the first document are those from word `b` of the second.
struct SharedRun {
    std::uint32_t a, b, length;

    bool operator==(const SharedRun&) const = default;
};

// Every run of at least `least` words of the first document that is somewhere in the second, and of
// which no longer run around it is. Runs are in the order of the first document, where they may
// overlap; `b` is the first place of each in the second.
std::vector<SharedRun> shared_runs(const WordSequence& first, const WordSequence& second,
                                   std::uint32_t least);

}  // namespace neardup
