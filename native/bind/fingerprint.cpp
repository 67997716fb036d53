#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>

#include "arrays.hpp"
#include "neardup/dispatch.hpp"

namespace neardup::bind {

using nb::literals::operator""_a;

static auto fingerprint(const Input<std::uint8_t>& data, const Input<std::int64_t>& offsets,
                        const Recipe& recipe, std::size_t threads, const std::string& isa) {
    if (recipe.shingle.size == 0 || recipe.bits == 0)
        throw std::invalid_argument("shingles have at least one unit, fingerprints one bit");
    const Column column = column_of(data, offsets);
    const Kernels& kernels = kernels_for(isa);
    auto bits = std::make_unique<std::uint64_t[]>(column.count * recipe.row_words());
    auto words = std::make_unique<std::uint32_t[]>(column.count);
    {
        nb::gil_scoped_release release;
        fingerprint_column(column, recipe, {bits.get(), words.get()}, threads, kernels);
    }
    return std::pair(owned_array(bits.release(), column.count, recipe.row_words()),
                     owned_array(words.release(), column.count));
}

void register_fingerprint(nb::module_& m) {
    m.def("available_isas", &available_isas);
    m.def(
        "is_utf8",
        [](const Input<std::uint8_t>& data, const Input<std::int64_t>& offsets,
           const std::string& isa) {
            const Column column = column_of(data, offsets);
            const Kernels& kernels = kernels_for(isa);
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

}  // namespace neardup::bind
