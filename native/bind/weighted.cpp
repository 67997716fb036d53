#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <cmath>
#include <memory>
#include <string>

#include "arrays.hpp"
#include "neardup/dispatch.hpp"

namespace neardup::bind {

using nb::literals::operator""_a;

// Check offsets and weights as they come from Python; return the number of documents.
static std::size_t checked_count(const Input<std::int64_t>& offsets, const Input<double>& weights,
                                 std::size_t terms) {
    if (offsets.size() == 0) throw std::invalid_argument("a column has at least one offset");
    if (terms != weights.size()) throw std::invalid_argument("every term needs its weight");
    const std::int64_t* at = offsets.data();
    const std::size_t count = offsets.size() - 1;
    for (std::size_t i = 0; i < count; ++i)
        if (at[i] > at[i + 1]) throw std::invalid_argument("offsets must not decrease");
    if (at[0] < 0 || at[count] > static_cast<std::int64_t>(terms))
        throw std::invalid_argument("offsets point outside the terms");
    bool finite = true;
    for (std::size_t i = 0; i < terms; ++i) finite &= std::isfinite(weights.data()[i]);
    if (!finite) throw std::invalid_argument("a weight is not finite");
    return count;
}

// View terms, checked, so that no kernel can read outside them.
static TermColumn term_column_of(const Input<std::int64_t>& offsets, const Input<std::int32_t>& terms,
                                 const Input<double>& weights, const InputRows<std::uint64_t>& digests,
                                 std::size_t row_words) {
    const std::size_t count = checked_count(offsets, weights, terms.size());
    if (digests.shape(1) != row_words)
        throw std::invalid_argument("the digests are not of the width of the fingerprint");
    bool known = true;
    for (std::size_t i = 0; i < terms.size(); ++i)
        known &= static_cast<std::uint32_t>(terms.data()[i]) < digests.shape(0);
    if (!known) throw std::invalid_argument("a term has no digest");
    return {offsets.data(), count, terms.data(), weights.data(), digests.data()};
}

// Rows of fingerprints and, where they are wanted, of sums.
template <typename Weigh>
static auto weighed(std::size_t count, const TermRecipe& recipe, bool with_sums, const Weigh& weigh) {
    const std::size_t sum_rows = with_sums ? count : 0;
    auto rows = std::make_unique<std::uint64_t[]>(count * recipe.row_words());
    auto sums = std::make_unique<double[]>(sum_rows * recipe.bits);
    {
        nb::gil_scoped_release release;
        weigh(TermRows{rows.get(), with_sums ? sums.get() : nullptr});
    }
    return std::pair(owned_array(rows.release(), count, recipe.row_words()),
                     owned_array(sums.release(), sum_rows, static_cast<std::size_t>(recipe.bits)));
}

static TermRecipe recipe_of(std::uint32_t bits, bool ties_up, const HashKey* key = nullptr) {
    if (bits == 0) throw std::invalid_argument("a fingerprint has at least one bit");
    return {bits, ties_up, key};
}

void register_weighted(nb::module_& m) {
    m.def(
        "weigh",
        [](const Input<std::int64_t>& offsets, const Input<std::int32_t>& terms,
           const Input<double>& weights, const InputRows<std::uint64_t>& digests, std::uint32_t bits,
           bool ties_up, bool with_sums, std::size_t threads, const std::string& isa) {
            const TermRecipe recipe = recipe_of(bits, ties_up);
            const TermColumn column =
                term_column_of(offsets, terms, weights, digests, recipe.row_words());
            const Kernels& kernels = kernels_for(isa);
            return weighed(column.count, recipe, with_sums, [&](const TermRows& rows) {
                weigh_column(column, recipe, rows, threads, kernels);
            });
        },
        "offsets"_a, "terms"_a, "weights"_a, "digests"_a, nb::kw_only(), "bits"_a, "ties_up"_a,
        "with_sums"_a, "threads"_a, "isa"_a);
    m.def(
        "weigh_features",
        [](const Input<std::int64_t>& offsets, const Input<std::uint64_t>& hashes,
           const Input<double>& weights, std::uint32_t bits, bool ties_up,
           const Input<std::uint64_t>& key_words, bool with_sums, std::size_t threads,
           const std::string& isa) {
            const KeyWords key(key_words);
            const TermRecipe recipe = recipe_of(bits, ties_up, key.get());
            const FeatureColumn column{offsets.data(),
                                       checked_count(offsets, weights, hashes.size()),
                                       hashes.data(), weights.data()};
            const Kernels& kernels = kernels_for(isa);
            return weighed(column.count, recipe, with_sums, [&](const TermRows& rows) {
                weigh_features(column, recipe, rows, threads, kernels);
            });
        },
        "offsets"_a, "hashes"_a, "weights"_a, nb::kw_only(), "bits"_a, "ties_up"_a, "key"_a, "with_sums"_a,
        "threads"_a, "isa"_a);
}

}  // namespace neardup::bind
