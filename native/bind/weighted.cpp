#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <cmath>
#include <memory>
#include <string>

#include "arrays.hpp"
#include "neardup/dispatch.hpp"

namespace neardup::bind {

using nb::literals::operator""_a;

// View terms as they come from Python, checked, so that no kernel can read outside them.
static TermColumn term_column_of(const Input<std::int64_t>& offsets, const Input<std::int32_t>& terms,
                                 const Input<double>& weights, const InputRows<std::uint64_t>& digests,
                                 std::size_t row_words) {
    if (offsets.size() == 0) throw std::invalid_argument("a column has at least one offset");
    if (terms.size() != weights.size()) throw std::invalid_argument("every term needs its weight");
    if (digests.shape(1) != row_words)
        throw std::invalid_argument("the digests are not of the width of the fingerprint");
    const std::int64_t* at = offsets.data();
    const std::size_t count = offsets.size() - 1;
    for (std::size_t i = 0; i < count; ++i)
        if (at[i] > at[i + 1]) throw std::invalid_argument("offsets must not decrease");
    if (at[0] < 0 || at[count] > static_cast<std::int64_t>(terms.size()))
        throw std::invalid_argument("offsets point outside the terms");
    for (std::size_t i = 0; i < terms.size(); ++i) {
        if (terms.data()[i] < 0 || static_cast<std::size_t>(terms.data()[i]) >= digests.shape(0))
            throw std::invalid_argument("a term has no digest");
        if (!std::isfinite(weights.data()[i])) throw std::invalid_argument("a weight is not finite");
    }
    return {at, count, terms.data(), weights.data(), digests.data()};
}

void register_weighted(nb::module_& m) {
    m.def(
        "weigh",
        [](const Input<std::int64_t>& offsets, const Input<std::int32_t>& terms,
           const Input<double>& weights, const InputRows<std::uint64_t>& digests, std::uint32_t bits,
           bool ties_up, bool with_sums, std::size_t threads, const std::string& isa) {
            if (bits == 0) throw std::invalid_argument("a fingerprint has at least one bit");
            const TermRecipe recipe{bits, ties_up};
            const TermColumn column =
                term_column_of(offsets, terms, weights, digests, recipe.row_words());
            const Kernels& kernels = kernels_for(isa);
            const std::size_t sum_rows = with_sums ? column.count : 0;
            auto rows = std::make_unique<std::uint64_t[]>(column.count * recipe.row_words());
            auto sums = std::make_unique<double[]>(sum_rows * bits);
            {
                nb::gil_scoped_release release;
                weigh_column(column, recipe, {rows.get(), with_sums ? sums.get() : nullptr}, threads,
                             kernels);
            }
            return std::pair(owned_array(rows.release(), column.count, recipe.row_words()),
                             owned_array(sums.release(), sum_rows, static_cast<std::size_t>(bits)));
        },
        "offsets"_a, "terms"_a, "weights"_a, "digests"_a, nb::kw_only(), "bits"_a, "ties_up"_a,
        "with_sums"_a, "threads"_a, "isa"_a);
}

}  // namespace neardup::bind
