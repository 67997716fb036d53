// Compiled once per instruction set; see isa.hpp.
#include "neardup/dispatch.hpp"
#include "neardup/feature_sets.hpp"
#include "neardup/fingerprint.hpp"
#include "neardup/json_scan.hpp"
#include "neardup/utf8.hpp"
#include "neardup/weighted.hpp"

namespace neardup::NEARDUP_ISA {

static void fingerprint_ranges(const Column& column, const Recipe& recipe, const Rows& rows,
                        const NextRange& next) {
    Fingerprinter fingerprinter(recipe);
    const std::size_t row_words = recipe.row_words();
    for (Range range = next(); range.first != range.last; range = next()) {
        for (std::size_t i = range.first; i < range.last; ++i) {
            const auto size = static_cast<std::size_t>(column.offsets[i + 1] - column.offsets[i]);
            rows.words[i] = fingerprinter.run(column.data + column.offsets[i], size,
                                              rows.bits + i * row_words);
        }
    }
}

template <typename Documents>
static void weigh_ranges(const Documents& column, const TermRecipe& recipe, const TermRows& rows,
                         const NextRange& next) {
    WeightedSums weighted(recipe);
    for (Range range = next(); range.first != range.last; range = next())
        for (std::size_t i = range.first; i < range.last; ++i)
            weighted.run(column, i, rows.bits + i * recipe.row_words(),
                         rows.sums == nullptr ? nullptr : rows.sums + i * recipe.bits);
}

static void feature_ranges(const Column& column, const ShingleList& shingles, FeatureTaker& taker,
                           const NextRange& next) {
    FeatureSets sets;
    for (Range range = next(); range.first != range.last; range = next()) {
        for (std::size_t i = range.first; i < range.last; ++i) {
            const auto size = static_cast<std::size_t>(column.offsets[i + 1] - column.offsets[i]);
            const std::size_t words = sets.run(shingles, column.data + column.offsets[i], size);
            taker.take(i, words, sets.hashes(), sets.counts(), sets.size());
            sets.release_if_above(kKeepRoom);
        }
    }
}

const Kernels kernels = {fingerprint_ranges, weigh_ranges<TermColumn>, weigh_ranges<FeatureColumn>,
                         feature_ranges, is_utf8, scan_json_lines};

}  // namespace neardup::NEARDUP_ISA
