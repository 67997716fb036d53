// Columns of texts, terms or features → fingerprints and features, for every instruction set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "neardup/isa.hpp"
#include "neardup/text/recipe.hpp"

namespace neardup {

// Returns the next range of documents as [first, last); an empty range means that none are left.
struct Range {
    std::size_t first, last;
};
using NextRange = std::function<Range()>;

// Receives the features of each document in turn: ascending, each once, with their counts.
struct FeatureTaker {
    virtual void take(std::size_t document, std::size_t words, const std::uint64_t* hashes,
                      const std::uint32_t* counts, std::size_t size) = 0;

  protected:
    ~FeatureTaker() = default;
};

// Receives the features of the single words of each document in turn, in order, with repetitions.
struct WordTaker {
    virtual void take(std::size_t document, const std::uint64_t* hashes, std::size_t count) = 0;

  protected:
    ~WordTaker() = default;
};

// Where features in order go: arrays as long as those that they come from, and the offset of the
// end of each document after a 0.
struct OrderedFeatures {
    std::int64_t* offsets;
    std::uint64_t* hashes;
    double* weights;
};

struct TextKernels {
    // Fingerprint every range that `next` returns.
    void (*fingerprint_ranges)(const Column&, const Recipe&, const Rows&, const NextRange& next);
    // The same for documents of weighted terms.
    void (*weigh_ranges)(const TermColumn&, const TermRecipe&, const TermRows&,
                         const NextRange& next);
    // The same for documents of features, which are hashes already.
    void (*weigh_feature_ranges)(const FeatureColumn&, const TermRecipe&, const TermRows&,
                                 const NextRange& next);
    // Find the features of every document, in the order of each range.
    void (*feature_ranges)(const Column&, const ShingleList&, FeatureTaker&, const NextRange& next);
    // Put the features of every document in order, to where they began in `column`.
    void (*order_ranges)(const FeatureColumn& column, const OrderedFeatures&,
                         const NextRange& next);
    // Whether bytes are well-formed UTF-8.
    bool (*is_utf8)(const std::uint8_t* text, std::size_t size);
    // The number of words of every text, and 128 bits for these words in their order.
    void (*key_ranges)(const Column&, std::uint32_t* words, std::uint64_t* keys,
                       const NextRange& next);
    // The features of single words of a text, in order, with repetitions.
    void (*word_hashes)(const std::uint8_t* text, std::size_t size,
                        std::vector<std::uint64_t>& hashes);
    // The same for every document, in the order of each range.
    void (*word_ranges)(const Column&, WordTaker&, const NextRange& next);
};

NEARDUP_IN_EVERY_ISA(extern const TextKernels text_kernels;)

// The kernels for an instruction set by name, or the fastest ones for "auto".
const TextKernels& text_kernels_for(const std::string& isa);

// All documents of a column as one range.
NextRange whole_column(const Column&);

// Fingerprint a whole column on up to `threads` threads. The rows do not depend on their number.
void fingerprint_column(const Column&, const Recipe&, const Rows&, std::size_t threads,
                        const TextKernels& kernels);

// The same for a column of weighted terms.
void weigh_column(const TermColumn&, const TermRecipe&, const TermRows&, std::size_t threads,
                  const TextKernels& kernels);

// The same for a column of weighted features.
void weigh_features(const FeatureColumn&, const TermRecipe&, const TermRows&, std::size_t threads,
                    const TextKernels& kernels);

// The features of documents: those of document i lie at offsets[i] … offsets[i + 1]. `counts` is
// empty where it was not wanted.
struct FeatureTable {
    std::vector<std::int64_t> offsets;
    std::vector<std::uint64_t> hashes;
    std::vector<std::uint32_t> counts;
    std::vector<std::uint32_t> words;
};
FeatureTable features_of(const Column&, const ShingleList&, bool with_counts, std::size_t threads,
                         const TextKernels& kernels);

// The features of each document in ascending order, each once; the weights of equal ones are added
// as they come. Returns how many features there are then.
std::size_t order_features(const FeatureColumn&, const OrderedFeatures&, std::size_t threads,
                           const TextKernels& kernels);

// The number of words of each text, and two words of key: equal for the same words in the same
// order, else different up to collisions.
void word_keys(const Column&, std::uint32_t* words, std::uint64_t* keys, std::size_t threads,
               const TextKernels& kernels);

// Whether every string of a column is well-formed UTF-8.
bool is_utf8_column(const Column&, const TextKernels& kernels);

}  // namespace neardup
