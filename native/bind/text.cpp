#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "neardup/dispatch.hpp"
#include "neardup/text/content_keys.hpp"
#include "neardup/text/feature_counts.hpp"
#include "neardup/text/kernels.hpp"

namespace neardup::bind {

using nb::literals::operator""_a;

namespace {

auto features(const Input<std::uint8_t>& data, const Input<std::int64_t>& offsets,
              const std::vector<std::pair<bool, std::size_t>>& kinds, bool with_counts,
              const Input<std::uint64_t>& key_words, std::size_t threads, const std::string& isa) {
    const KeyWords key(key_words);
    std::vector<Shingle> shingles;
    for (const auto& [words, size] : kinds) {
        if (size == 0) throw std::invalid_argument("shingles have at least one unit");
        shingles.push_back({words, size});
    }
    const Column column = column_of(data, offsets);
    const TextKernels& kernels = text_kernels_for(isa);
    FeatureTable table;
    {
        nb::gil_scoped_release release;
        table = features_of(column, {shingles.data(), shingles.size(), key.get()}, with_counts,
                            threads, kernels);
    }
    return std::tuple(array_of(std::move(table.offsets)), array_of(std::move(table.hashes)),
                      array_of(std::move(table.counts)), array_of(std::move(table.words)));
}

void register_feature_counts(nb::module_& m) {
    nb::class_<FeatureCounts>(m, "FeatureCounts")
        .def(nb::init<std::size_t>(), "limit"_a)
        .def("__len__", &FeatureCounts::size)
        .def_prop_ro("floor", &FeatureCounts::floor)
        .def(
            "add",
            [](FeatureCounts& self, const Input<std::uint64_t>& hashes) {
                nb::gil_scoped_release release;
                self.add(hashes.data(), hashes.size());
            },
            "hashes"_a)
        .def(
            "set",
            [](FeatureCounts& self, const Input<std::uint64_t>& hashes,
               const Input<std::uint32_t>& counts) {
                if (hashes.size() != counts.size())
                    throw std::invalid_argument("every feature needs its count");
                for (std::size_t i = 0; i < hashes.size(); ++i)
                    self.set(hashes.data()[i], counts.data()[i]);
            },
            "hashes"_a, "counts"_a)
        .def(
            "look_up",
            [](const FeatureCounts& self, const Input<std::uint64_t>& hashes) {
                auto counts = std::make_unique<std::uint32_t[]>(hashes.size());
                {
                    nb::gil_scoped_release release;
                    self.look_up(hashes.data(), hashes.size(), counts.get());
                }
                return owned_array(counts.release(), hashes.size());
            },
            "hashes"_a)
        .def(
            "items",
            [](const FeatureCounts& self, std::uint32_t least) {
                FeatureCounts::Items items = self.items(least);
                return std::pair(array_of(std::move(items.hashes)),
                                 array_of(std::move(items.counts)));
            },
            "least"_a);
}

// Check the offsets of features from Python; return the number of documents.
std::size_t documents_in(const Input<std::int64_t>& offsets, std::size_t features) {
    if (offsets.size() == 0) throw std::invalid_argument("a column has at least one offset");
    const std::int64_t* at = offsets.data();
    const std::size_t count = offsets.size() - 1;
    for (std::size_t i = 0; i < count; ++i)
        if (at[i] > at[i + 1]) throw std::invalid_argument("offsets must not decrease");
    if (at[0] < 0 || at[count] > static_cast<std::int64_t>(features))
        throw std::invalid_argument("offsets point outside the terms");
    return count;
}

auto content_keys_of(const Input<std::int64_t>& offsets, const Input<std::uint64_t>& hashes,
                     const std::optional<Input<double>>& weights) {
    if (weights && weights->size() != hashes.size())
        throw std::invalid_argument("every feature needs its weight");
    const std::size_t count = documents_in(offsets, hashes.size());
    auto keys = std::make_unique_for_overwrite<std::uint64_t[]>(2 * count);
    {
        nb::gil_scoped_release release;
        content_keys({offsets.data(), count, hashes.data(), weights ? weights->data() : nullptr},
                     keys.get());
    }
    return owned_array(keys.release(), count, std::size_t{2});
}

// The values of some documents, one document after the other, and where each begins.
auto taken_values(const Input<std::int64_t>& offsets, const Input<std::uint64_t>& values,
                  const Input<std::int64_t>& places) {
    const std::size_t documents = documents_in(offsets, values.size()), count = places.size();
    for (std::size_t i = 0; i < count; ++i)
        if (static_cast<std::uint64_t>(places.data()[i]) >= documents)
            throw std::invalid_argument("no document is at that place");
    auto begins = std::make_unique_for_overwrite<std::int64_t[]>(count + 1);
    begins[0] = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const std::int64_t* const at = offsets.data() + places.data()[i];
        begins[i + 1] = begins[i] + at[1] - at[0];
    }
    const auto total = static_cast<std::size_t>(begins[count]);
    auto taken = std::make_unique_for_overwrite<std::uint64_t[]>(total);
    {
        nb::gil_scoped_release release;
        for (std::size_t i = 0; i < count; ++i)
            std::copy_n(values.data() + offsets.data()[places.data()[i]], begins[i + 1] - begins[i],
                        taken.get() + begins[i]);
    }
    return std::pair(owned_array(begins.release(), count + 1), owned_array(taken.release(), total));
}

auto ordered_features(const Input<std::int64_t>& offsets, const Input<std::uint64_t>& hashes,
                      const Input<double>& weights, std::size_t threads, const std::string& isa) {
    if (weights.size() != hashes.size())
        throw std::invalid_argument("every feature needs its weight");
    const FeatureColumn column{offsets.data(), documents_in(offsets, hashes.size()), hashes.data(),
                               weights.data()};
    const auto most = static_cast<std::size_t>(column.offsets[column.count] - column.offsets[0]);
    const TextKernels& kernels = text_kernels_for(isa);
    Values<std::int64_t> ends(column.count + 1);
    Values<std::uint64_t> kept(most);
    Values<double> amounts(most);
    {
        nb::gil_scoped_release release;
        kept.size = amounts.size =
            order_features(column, {ends.data, kept.data, amounts.data}, threads, kernels);
    }
    return std::tuple(ends.array(), kept.array(), amounts.array());
}

void register_features(nb::module_& m) {
    m.def("features", &features, "data"_a, "offsets"_a, nb::kw_only(), "shingles"_a,
          "with_counts"_a, "key"_a, "threads"_a, "isa"_a);
    m.def("content_keys", &content_keys_of, "offsets"_a, "hashes"_a, "weights"_a.none());
    m.def("order_features", &ordered_features, "offsets"_a, "hashes"_a, "weights"_a, nb::kw_only(),
          "threads"_a, "isa"_a);
    m.def("take_values", &taken_values, "offsets"_a, "values"_a, "places"_a);
    register_feature_counts(m);
}

auto fingerprint(const Input<std::uint8_t>& data, const Input<std::int64_t>& offsets,
                 const Recipe& recipe, std::size_t threads, const std::string& isa) {
    if (recipe.shingle.size == 0 || recipe.bits == 0)
        throw std::invalid_argument("shingles have at least one unit, fingerprints one bit");
    const Column column = column_of(data, offsets);
    const TextKernels& kernels = text_kernels_for(isa);
    auto bits = std::make_unique<std::uint64_t[]>(column.count * recipe.row_limbs());
    auto words = std::make_unique<std::uint32_t[]>(column.count);
    {
        nb::gil_scoped_release release;
        fingerprint_column(column, recipe, {bits.get(), words.get()}, threads, kernels);
    }
    return std::pair(owned_array(bits.release(), column.count, recipe.row_limbs()),
                     owned_array(words.release(), column.count));
}

void register_fingerprint(nb::module_& m) {
    m.def("available_isas", &available_isas);
    m.def(
        "is_utf8",
        [](const Input<std::uint8_t>& data, const Input<std::int64_t>& offsets,
           const std::string& isa) {
            const Column column = column_of(data, offsets);
            const TextKernels& kernels = text_kernels_for(isa);
            nb::gil_scoped_release release;
            return is_utf8_column(column, kernels);
        },
        "data"_a, "offsets"_a, nb::kw_only(), "isa"_a);
    m.def(
        "fingerprint",
        [](const Input<std::uint8_t>& data, const Input<std::int64_t>& offsets, bool words,
           std::size_t size, bool distinct, std::uint32_t bits, bool ties_up,
           const Input<std::uint64_t>& key_words, std::size_t threads, const std::string& isa) {
            const KeyWords key(key_words);
            return fingerprint(data, offsets, {{words, size}, distinct, bits, ties_up, key.get()},
                               threads, isa);
        },
        "data"_a, "offsets"_a, nb::kw_only(), "words"_a, "size"_a, "distinct"_a, "bits"_a,
        "ties_up"_a, "key"_a, "threads"_a, "isa"_a);
}

// Check offsets and weights from Python; return the number of documents.
std::size_t checked_count(const Input<std::int64_t>& offsets, const Input<double>& weights,
                          std::size_t terms) {
    if (terms != weights.size()) throw std::invalid_argument("every term needs its weight");
    const std::size_t count = documents_in(offsets, terms);
    bool finite = true;
    for (std::size_t i = 0; i < terms; ++i) finite &= std::isfinite(weights.data()[i]);
    if (!finite) throw std::invalid_argument("a weight is not finite");
    return count;
}

// View terms. Checks them, so that no kernel can read outside them.
TermColumn term_column_of(const Input<std::int64_t>& offsets, const Input<std::int32_t>& terms,
                          const Input<double>& weights, const InputRows<std::uint64_t>& digests,
                          std::size_t row_limbs) {
    const std::size_t count = checked_count(offsets, weights, terms.size());
    if (digests.shape(1) != row_limbs)
        throw std::invalid_argument("the digests are not of the width of the fingerprint");
    bool known = true;
    for (std::size_t i = 0; i < terms.size(); ++i)
        known &= static_cast<std::uint32_t>(terms.data()[i]) < digests.shape(0);
    if (!known) throw std::invalid_argument("a term has no digest");
    return {offsets.data(), count, terms.data(), weights.data(), digests.data()};
}

// Rows of fingerprints and, if wanted, of sums.
template <typename Weigh>
auto weighed(std::size_t count, const TermRecipe& recipe, bool with_sums, const Weigh& weigh) {
    const std::size_t sum_rows = with_sums ? count : 0;
    auto rows = std::make_unique<std::uint64_t[]>(count * recipe.row_limbs());
    auto sums = std::make_unique<double[]>(sum_rows * recipe.bits);
    {
        nb::gil_scoped_release release;
        weigh(TermRows{rows.get(), with_sums ? sums.get() : nullptr});
    }
    return std::pair(owned_array(rows.release(), count, recipe.row_limbs()),
                     owned_array(sums.release(), sum_rows, static_cast<std::size_t>(recipe.bits)));
}

TermRecipe recipe_of(std::uint32_t bits, bool ties_up, const HashKey* key = nullptr) {
    if (bits == 0) throw std::invalid_argument("a fingerprint has at least one bit");
    return {bits, ties_up, key};
}

void register_weighted(nb::module_& m) {
    m.def(
        "weigh",
        [](const Input<std::int64_t>& offsets, const Input<std::int32_t>& terms,
           const Input<double>& weights, const InputRows<std::uint64_t>& digests,
           std::uint32_t bits, bool ties_up, bool with_sums, std::size_t threads,
           const std::string& isa) {
            const TermRecipe recipe = recipe_of(bits, ties_up);
            const TermColumn column =
                term_column_of(offsets, terms, weights, digests, recipe.row_limbs());
            const TextKernels& kernels = text_kernels_for(isa);
            return weighed(column.count, recipe, with_sums, [&](const TermRows& rows) {
                weigh_column(column, recipe, rows, threads, kernels);
            });
        },
        "offsets"_a, "terms"_a, "weights"_a, "digests"_a, nb::kw_only(), "bits"_a, "ties_up"_a,
        "with_sums"_a, "threads"_a, "isa"_a);
    m.def(
        "weigh_features",
        [](const Input<std::int64_t>& offsets, const Input<std::uint64_t>& hashes,
           const std::optional<Input<double>>& weights, std::uint32_t bits, bool ties_up,
           const Input<std::uint64_t>& key_words, bool with_sums, std::size_t threads,
           const std::string& isa) {
            if (with_sums && !weights) throw std::invalid_argument("sums need weights");
            const KeyWords key(key_words);
            const TermRecipe recipe = recipe_of(bits, ties_up, key.get());
            const std::size_t count = weights ? checked_count(offsets, *weights, hashes.size())
                                              : documents_in(offsets, hashes.size());
            const FeatureColumn column{offsets.data(), count, hashes.data(),
                                       weights ? weights->data() : nullptr};
            const TextKernels& kernels = text_kernels_for(isa);
            return weighed(column.count, recipe, with_sums, [&](const TermRows& rows) {
                weigh_features(column, recipe, rows, threads, kernels);
            });
        },
        "offsets"_a, "hashes"_a, "weights"_a.none(), nb::kw_only(), "bits"_a, "ties_up"_a, "key"_a,
        "with_sums"_a, "threads"_a, "isa"_a);
}

}  // namespace

void register_text(nb::module_& m) {
    register_features(m);
    register_fingerprint(m);
    register_weighted(m);
}

}  // namespace neardup::bind
