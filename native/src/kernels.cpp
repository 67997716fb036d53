// Compiled once per instruction set; see isa.hpp.
#include "neardup/dispatch.hpp"
#include "neardup/fingerprint.hpp"
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

static void weigh_ranges(const TermColumn& column, const TermRecipe& recipe, const TermRows& rows,
                         const NextRange& next) {
    WeightedSums weighted(recipe);
    for (Range range = next(); range.first != range.last; range = next())
        for (std::size_t i = range.first; i < range.last; ++i)
            weighted.run(column, i, rows.bits + i * recipe.row_words(),
                         rows.sums == nullptr ? nullptr : rows.sums + i * recipe.bits);
}

const Kernels kernels = {fingerprint_ranges, weigh_ranges, is_utf8};

}  // namespace neardup::NEARDUP_ISA
