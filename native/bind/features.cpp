#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "neardup/dispatch.hpp"
#include "neardup/feature_counts.hpp"

namespace neardup::bind {

using nb::literals::operator""_a;

template <typename T>
static auto copied_array(const std::vector<T>& values) {
    auto copy = std::make_unique<T[]>(values.size());
    std::copy(values.begin(), values.end(), copy.get());
    return owned_array(copy.release(), values.size());
}

static auto features(const Input<std::uint8_t>& data, const Input<std::int64_t>& offsets,
                     const std::vector<std::pair<bool, std::size_t>>& kinds, std::size_t threads,
                     const std::string& isa) {
    std::vector<Shingle> shingles;
    for (const auto& [words, size] : kinds) {
        if (size == 0) throw std::invalid_argument("shingles have at least one unit");
        shingles.push_back({words, size});
    }
    const Column column = column_of(data, offsets);
    const Kernels& kernels = kernels_for(isa);
    FeatureTable table;
    {
        nb::gil_scoped_release release;
        table = features_of(column, {shingles.data(), shingles.size()}, threads, kernels);
    }
    const auto total = static_cast<std::size_t>(table.offsets.back());
    return std::tuple(copied_array(table.offsets), owned_array(table.hashes.release(), total),
                      owned_array(table.counts.release(), total),
                      owned_array(table.words.release(), column.count));
}

static void register_feature_counts(nb::module_& m) {
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
                const FeatureCounts::Items items = self.items(least);
                return std::pair(copied_array(items.hashes), copied_array(items.counts));
            },
            "least"_a);
}

void register_features(nb::module_& m) {
    m.def("features", &features, "data"_a, "offsets"_a, nb::kw_only(), "shingles"_a, "threads"_a,
          "isa"_a);
    register_feature_counts(m);
}

}  // namespace neardup::bind
