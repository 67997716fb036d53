#include "neardup/id_set.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <optional>
#include <utility>

#include "arrays.hpp"

namespace neardup::bind {

using nb::literals::operator""_a;

void register_id_set(nb::module_& m) {
    nb::class_<IdSet>(m, "IdSet")
        .def(nb::init<>())
        .def("__len__", &IdSet::size)
        .def(
            "add",
            [](IdSet& self, const Input<std::uint8_t>& data, const Input<std::int64_t>& offsets,
               const Input<std::int64_t>& places)
                -> std::optional<std::pair<std::size_t, std::int64_t>> {
                const Column column = column_of(data, offsets);
                if (places.size() != column.count)
                    throw std::invalid_argument("every id needs its place");
                const auto repeat = self.add(column, places.data());
                if (!repeat) return std::nullopt;
                return std::pair(repeat->position, repeat->place);
            },
            "data"_a, "offsets"_a, "places"_a);
}

}  // namespace neardup::bind
