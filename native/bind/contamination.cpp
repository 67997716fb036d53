#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "neardup/contamination/benchmark.hpp"
#include "neardup/contamination/word_places.hpp"
#include "neardup/text/kernels.hpp"

namespace neardup::bind {

using nb::literals::operator""_a;

namespace {

// One value of each member of a list, as an array.
template <typename Members, typename Value>
auto column(const Members& members, const Value& value) {
    std::vector<std::int64_t> values;
    values.reserve(members.size());
    for (const auto& member : members) values.push_back(static_cast<std::int64_t>(value(member)));
    return array_of(std::move(values));
}

template <typename Members>
void add_range(nb::dict& to, const Members& members) {
    to["start"] = column(members, [](const auto& one) { return one.range.start; });
    to["end"] = column(members, [](const auto& one) { return one.range.end; });
    to["start_byte"] = column(members, [](const auto& one) { return one.range.start_byte; });
    to["end_byte"] = column(members, [](const auto& one) { return one.range.end_byte; });
}

nb::dict tables_of(const Found& found) {
    nb::dict hits, items, documents, ranges, all;
    hits["document"] = column(found.hits, [](const Hit& hit) { return hit.document; });
    hits["item"] = column(found.hits, [](const Hit& hit) { return hit.run.item; });
    hits["item_start"] = column(found.hits, [](const Hit& hit) { return hit.run.item_start; });
    hits["words"] = column(found.hits, [](const Hit& hit) { return hit.run.words; });
    add_range(hits, found.hits);
    using InDocument = ItemInDocument;
    items["document"] = column(found.items, [](const InDocument& one) { return one.document; });
    items["item"] = column(found.items, [](const InDocument& one) { return one.item; });
    items["covered"] = column(found.items, [](const InDocument& one) { return one.covered; });
    items["longest"] = column(found.items, [](const InDocument& one) { return one.longest; });
    items["hits"] = column(found.items, [](const InDocument& one) { return one.hits; });
    using Document = HitDocument;
    documents["document"] =
        column(found.documents, [](const Document& one) { return one.document; });
    documents["words"] = column(found.documents, [](const Document& one) { return one.words; });
    documents["covered"] = column(found.documents, [](const Document& one) { return one.covered; });
    ranges["document"] =
        column(found.ranges, [](const CoveredRange& range) { return range.document; });
    ranges["words"] = column(found.ranges, [](const CoveredRange& range) { return range.words; });
    add_range(ranges, found.ranges);
    all["hits"] = hits;
    all["items"] = items;
    all["documents"] = documents;
    all["ranges"] = ranges;
    all["words"] = found.words;
    return all;
}

nb::dict scan(const Benchmark& benchmark, const Input<std::uint8_t>& data,
              const Input<std::int64_t>& offsets, double least_share, const std::string& isa) {
    const Column documents = column_of(data, offsets);
    const TextKernels& kernels = text_kernels_for(isa);
    Found found;
    {
        nb::gil_scoped_release release;
        found = benchmark.scan(documents, least_share, kernels);
    }
    return tables_of(found);
}

auto add(Benchmark& benchmark, const Input<std::uint8_t>& data, const Input<std::int64_t>& offsets,
         const Input<std::uint32_t>& item_of, std::size_t items, const std::string& isa) {
    const Column fields = column_of(data, offsets);
    if (item_of.size() != fields.count) throw std::invalid_argument("every field has an item");
    for (std::size_t i = 0; i < item_of.size(); ++i) {
        const std::uint32_t before = i == 0 ? 0 : item_of.data()[i - 1];
        if (item_of.data()[i] < before || item_of.data()[i] >= items)
            throw std::invalid_argument("the items of fields must ascend");
    }
    const TextKernels& kernels = text_kernels_for(isa);
    std::vector<std::uint8_t> chosen;
    {
        nb::gil_scoped_release release;
        chosen = benchmark.add(fields, item_of.data(), items, kernels);
    }
    return array_of(std::move(chosen));
}

auto word_places_of(const Input<std::uint8_t>& text, const Input<std::uint64_t>& numbers) {
    const std::vector<WordPlace> found =
        word_places({text.data(), text.size()}, {numbers.data(), numbers.size()});
    return std::tuple(column(found, [](const WordPlace& place) { return place.start_byte; }),
                      column(found, [](const WordPlace& place) { return place.end_byte; }),
                      column(found, [](const WordPlace& place) { return place.start; }),
                      column(found, [](const WordPlace& place) { return place.end; }));
}

}  // namespace

void register_contamination(nb::module_& m) {
    nb::class_<Benchmark>(m, "BenchmarkIndex")
        .def(
            "__init__",
            [](Benchmark* self, std::uint32_t min_words, std::uint32_t short_words,
               std::uint32_t max_items) {
                new (self) Benchmark({min_words, short_words, max_items});
            },
            nb::kw_only(), "min_words"_a, "short_words"_a, "max_items"_a)
        .def("add", &add, "data"_a, "offsets"_a, "item_of"_a, nb::kw_only(), "items"_a, "isa"_a)
        .def("begin_next", &Benchmark::begin_next)
        .def("finish", &Benchmark::finish, nb::call_guard<nb::gil_scoped_release>())
        .def("scan", &scan, "data"_a, "offsets"_a, nb::kw_only(), "least_share"_a, "isa"_a)
        .def("__len__", &Benchmark::items)
        .def_prop_ro("bytes", &Benchmark::bytes)
        .def_prop_ro("common_count", &Benchmark::common_count)
        .def("words_of",
             [](const Benchmark& self) {
                 return column(self.words_of(), [](std::uint32_t words) { return words; });
             })
        .def("item_begins",
             [](const Benchmark& self) {
                 return column(self.item_begins(), [](std::uint32_t begin) { return begin; });
             })
        .def("counted",
             [](const Benchmark& self) {
                 std::vector<std::uint8_t> counted(self.word_count());
                 for (std::size_t i = 0; i < counted.size(); ++i) counted[i] = self.counts(i);
                 return array_of(std::move(counted));
             })
        .def("same_as",
             [](const Benchmark& self) {
                 return column(self.same_as(), [](std::uint32_t item) { return item; });
             })
        .def("common", [](const Benchmark& self) {
            const auto& runs = self.common();
            return std::tuple(column(runs, [](const CommonRun& run) { return run.item; }),
                              column(runs, [](const CommonRun& run) { return run.item_start; }),
                              column(runs, [](const CommonRun& run) { return run.items; }));
        });
    m.def("word_places", &word_places_of, "text"_a, "numbers"_a);
}

}  // namespace neardup::bind
