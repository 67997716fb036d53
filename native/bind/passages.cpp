#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "neardup/passages/cut.hpp"
#include "neardup/passages/sightings.hpp"
#include "neardup/text/kernels.hpp"

namespace neardup::bind {

using nb::literals::operator""_a;

namespace {

PassageUnit unit_of(const std::string& name) {
    if (name == "line") return PassageUnit::line;
    if (name == "paragraph") return PassageUnit::paragraph;
    if (name == "sentence") return PassageUnit::sentence;
    throw std::invalid_argument("no such unit of passages: " + name);
}

// Offsets of passages in documents, or of features in passages. Checks them.
std::size_t groups_in(const Input<std::int64_t>& offsets, std::size_t items) {
    if (offsets.size() == 0) throw std::invalid_argument("there is at least one offset");
    const std::int64_t* at = offsets.data();
    const std::size_t count = offsets.size() - 1;
    bool ascending = at[0] >= 0;
    for (std::size_t i = 0; i < count; ++i) ascending &= at[i] <= at[i + 1];
    if (!ascending || at[count] > static_cast<std::int64_t>(items))
        throw std::invalid_argument("offsets must not decrease, nor point outside");
    return count;
}

auto cut(const Input<std::uint8_t>& data, const Input<std::int64_t>& offsets,
         const std::string& unit, std::size_t threads) {
    const Column texts = column_of(data, offsets);
    const PassageUnit by = unit_of(unit);
    Passages found;
    {
        nb::gil_scoped_release release;
        found = cut_passages(texts, by, threads);
    }
    return std::pair(array_of(std::move(found.documents)), array_of(std::move(found.begins)));
}

auto keys_of(const Input<std::uint8_t>& data, const Input<std::int64_t>& offsets,
             std::size_t threads, const std::string& isa) {
    const Column texts = column_of(data, offsets);
    const TextKernels& kernels = text_kernels_for(isa);
    auto words = std::make_unique_for_overwrite<std::uint32_t[]>(texts.count);
    auto keys = std::make_unique_for_overwrite<std::uint64_t[]>(2 * texts.count);
    {
        nb::gil_scoped_release release;
        word_keys(texts, words.get(), keys.get(), threads, kernels);
    }
    return std::pair(owned_array(words.release(), texts.count),
                     owned_array(keys.release(), texts.count, std::size_t{2}));
}

auto windows(const Input<std::int64_t>& documents, const Input<std::uint32_t>& words,
             const InputRows<std::uint64_t>& keys, std::size_t size) {
    const std::size_t texts = groups_in(documents, words.size());
    if (keys.shape(0) != words.size() || keys.shape(1) != 2)
        throw std::invalid_argument("every passage has a key of two words");
    std::vector<std::uint8_t> begins;
    {
        nb::gil_scoped_release release;
        begins = begin_windows(documents.data(), texts, words.data(), keys.data(), size);
    }
    return array_of(std::move(begins));
}

void see(Sightings& sightings, const Input<std::uint64_t>& hashes) {
    nb::gil_scoped_release release;
    sightings.see(hashes.data(), hashes.size());
}

auto count(const Sightings& sightings, const Input<std::int64_t>& offsets,
           const Input<std::uint64_t>& hashes) {
    const std::size_t passages = groups_in(offsets, hashes.size());
    auto counts = std::make_unique_for_overwrite<std::uint32_t[]>(passages);
    {
        nb::gil_scoped_release release;
        sightings.count(offsets.data(), passages, hashes.data(), counts.get());
    }
    return owned_array(counts.release(), passages);
}

}  // namespace

void register_passages(nb::module_& m) {
    m.def("cut_passages", &cut, "data"_a, "offsets"_a, nb::kw_only(), "unit"_a, "threads"_a);
    m.def("word_keys", &keys_of, "data"_a, "offsets"_a, nb::kw_only(), "threads"_a, "isa"_a);
    m.def("begin_windows", &windows, "documents"_a, "words"_a, "keys"_a, nb::kw_only(), "size"_a);
    nb::class_<Sightings>(m, "Sightings")
        .def(
            "__init__",
            [](Sightings* at, std::uint64_t bits) {
                if (bits < 64 || bits > std::uint64_t{1} << 32 || (bits & (bits - 1)) != 0)
                    throw std::invalid_argument("the room is a power of two from 64 to 2^32");
                new (at) Sightings(bits);
            },
            "bits"_a)
        .def("see", &see, "hashes"_a)
        .def("count", &count, "offsets"_a, "hashes"_a);
}

}  // namespace neardup::bind
