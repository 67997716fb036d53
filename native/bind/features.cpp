#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

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

// Hand a vector over to NumPy.
template <typename T>
static auto array_of(std::vector<T>&& values) {
    auto kept = std::make_unique<std::vector<T>>(std::move(values));
    T* const data = kept->data();
    const std::size_t size = kept->size();
    nb::capsule owner(kept.release(),
                      [](void* held) noexcept { delete static_cast<std::vector<T>*>(held); });
    return nb::ndarray<nb::numpy, T, nb::ndim<1>>(data, {size}, owner);
}

static auto features(const Input<std::uint8_t>& data, const Input<std::int64_t>& offsets,
                     const std::vector<std::pair<bool, std::size_t>>& kinds, bool with_counts,
                     const Input<std::uint64_t>& key_words, std::size_t threads,
                     const std::string& isa) {
    const KeyWords key(key_words);
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
        table = features_of(column, {shingles.data(), shingles.size(), key.get()}, with_counts,
                            threads, kernels);
    }
    return std::tuple(array_of(std::move(table.offsets)), array_of(std::move(table.hashes)),
                      array_of(std::move(table.counts)), array_of(std::move(table.words)));
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
                FeatureCounts::Items items = self.items(least);
                return std::pair(array_of(std::move(items.hashes)),
                                 array_of(std::move(items.counts)));
            },
            "least"_a);
}

void register_features(nb::module_& m) {
    m.def("features", &features, "data"_a, "offsets"_a, nb::kw_only(), "shingles"_a,
          "with_counts"_a, "key"_a, "threads"_a, "isa"_a);
    register_feature_counts(m);
}

}  // namespace neardup::bind
