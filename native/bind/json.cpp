#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "neardup/json/lines.hpp"

namespace neardup::bind {

using nb::literals::operator""_a;

namespace {

constexpr const char* kKindNames[] = {"null", "boolean", "whole", "fraction", "string", "other"};

JsonWanted wanted_of(const std::string& name, const std::string& must_be) {
    if (must_be == "any") return {name, std::nullopt};
    if (must_be == "missing") return {name, std::nullopt, true};
    for (std::size_t kind = 0; kind < std::size(kKindNames); ++kind)
        if (must_be == kKindNames[kind]) return {name, static_cast<JsonKind>(kind)};
    throw std::invalid_argument("no kind of JSON value is called '" + must_be + "'");
}

// The scanner with the kernels it uses.
struct JsonReader {
    JsonLines lines;
    const JsonKernels& kernels;

    JsonReader(const std::vector<std::pair<std::string, std::string>>& wanted, bool every,
               const std::string& isa)
        : lines(columns_of(wanted), every), kernels(json_kernels_for(isa)) {}

    static std::vector<JsonWanted> columns_of(
        const std::vector<std::pair<std::string, std::string>>& wanted) {
        std::vector<JsonWanted> columns;
        for (const auto& [name, must_be] : wanted) columns.push_back(wanted_of(name, must_be));
        return columns;
    }
};

nb::list taken_columns(JsonReader& self) {
    nb::list columns;
    self.lines.hand_out([&](JsonColumn& column) {
        const std::size_t size = column.data.size(), count = column.offsets.size();
        const char* const kind = kKindNames[static_cast<std::size_t>(column.kind)];
        auto data = owned_array(column.data.release(), size);
        auto offsets = owned_array(column.offsets.release(), count);
        columns.append(nb::make_tuple(column.name, kind, data, offsets));
    });
    return columns;
}

}  // namespace

void register_json(nb::module_& m) {
    nb::class_<JsonReader>(m, "JsonLines")
        .def(nb::init<const std::vector<std::pair<std::string, std::string>>&, bool,
                      const std::string&>(),
             "wanted"_a, nb::kw_only(), "every"_a, "isa"_a)
        .def("__len__", [](const JsonReader& self) { return self.lines.rows(); })
        .def(
            "add",
            [](JsonReader& self, const Input<std::uint8_t>& block) {
                nb::gil_scoped_release release;
                return self.lines.add(block.data(), block.size(), self.kernels);
            },
            "block"_a)
        .def("take", &taken_columns);
}

}  // namespace neardup::bind
