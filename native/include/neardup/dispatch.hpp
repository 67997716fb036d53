// The kernels as compiled for each instruction set, and the choice between them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "json_values.hpp"
#include "recipe.hpp"

namespace neardup {

// Hands out the next range of documents as [first, last); an empty one means there is no more.
struct Range {
    std::size_t first, last;
};
using NextRange = std::function<Range()>;

// Takes the features of one document after the other: ascending, each once, with their counts.
struct FeatureTaker {
    virtual void take(std::size_t document, std::size_t words, const std::uint64_t* hashes,
                      const std::uint32_t* counts, std::size_t size) = 0;

  protected:
    ~FeatureTaker() = default;
};

// What each instruction set has its own version of.
struct Kernels {
    // Fingerprint every range that `next` hands out.
    void (*fingerprint_ranges)(const Column&, const Recipe&, const Rows&, const NextRange& next);
    // The same for documents of weighted terms.
    void (*weigh_ranges)(const TermColumn&, const TermRecipe&, const TermRows&, const NextRange& next);
    // The same for documents of features, which are hashes already.
    void (*weigh_feature_ranges)(const FeatureColumn&, const TermRecipe&, const TermRows&,
                                 const NextRange& next);
    // Find the features of every document, in the order of each range.
    void (*feature_ranges)(const Column&, const ShingleList&, FeatureTaker&, const NextRange& next);
    // Whether bytes are well-formed UTF-8.
    bool (*is_utf8)(const std::uint8_t* text, std::size_t size);
    // Hand what the objects of a block of lines hold to a taker. How many lines there are, 0 if
    // something is unusual. The block is UTF-8. `room`, as large as it, is for unescaped strings.
    std::size_t (*scan_json_lines)(const std::uint8_t* block, std::size_t size, std::uint8_t* room,
                                   JsonTaker&);
};

namespace portable {
extern const Kernels kernels;
}
namespace sse2 {
extern const Kernels kernels;
}
namespace avx2 {
extern const Kernels kernels;
}

// The instruction sets this machine can run, slowest first.
std::vector<std::string> available_isas();

// The kernels for an instruction set by name, or the fastest ones for "auto".
const Kernels& kernels_for(const std::string& isa);

// Fingerprint a whole column on up to `threads` threads. The rows do not depend on their number.
void fingerprint_column(const Column&, const Recipe&, const Rows&, std::size_t threads,
                        const Kernels& kernels);

// The same for a column of weighted terms.
void weigh_column(const TermColumn&, const TermRecipe&, const TermRows&, std::size_t threads,
                  const Kernels& kernels);

// The same for a column of weighted features.
void weigh_features(const FeatureColumn&, const TermRecipe&, const TermRows&, std::size_t threads,
                    const Kernels& kernels);

// The features of documents: those of document i lie at offsets[i] … offsets[i + 1]. `counts` is
// empty where it was not wanted.
struct FeatureTable {
    std::vector<std::int64_t> offsets;
    std::vector<std::uint64_t> hashes;
    std::vector<std::uint32_t> counts;
    std::vector<std::uint32_t> words;
};
FeatureTable features_of(const Column&, const ShingleList&, bool with_counts, std::size_t threads,
                         const Kernels& kernels);

// Whether every string of a column is well-formed UTF-8.
bool is_utf8_column(const Column&, const Kernels& kernels);

}  // namespace neardup
