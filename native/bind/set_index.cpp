#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "neardup/set_index/search.hpp"
#include "neardup/text/kernels.hpp"

namespace neardup::bind {

using nb::literals::operator""_a;

namespace {

using Bytes = Input<std::uint8_t>;
using NumberArray = Input<std::uint64_t>;
// A buffer; the first number; documents; where numbers, expiry times, starts and features begin.
using BlockPlace = std::tuple<Bytes, std::uint64_t, std::size_t, std::size_t, std::size_t,
                              std::size_t, std::size_t>;

Measure measure_of(const std::string& name) {
    if (name == "jaccard") return Measure::jaccard;
    if (name == "weighted-jaccard") return Measure::weighted_jaccard;
    if (name == "cosine") return Measure::cosine;
    if (name == "containment") return Measure::containment;
    if (name == "inclusion") return Measure::inclusion;
    throw std::invalid_argument("unknown measure '" + name + "'");
}

SetPlan plan_of(const std::string& measure, bool weighted, double threshold, std::uint32_t bands,
                std::uint32_t minima) {
    if (!(threshold > 0 && threshold <= 1))
        throw std::invalid_argument("a threshold is above 0 and at most 1");
    if (bands > kMostBands || minima > kMostMinima || (bands != 0 && minima == 0))
        throw std::invalid_argument("too many bands, or bands of nothing");
    if (weighted && bands != 0) throw std::invalid_argument("weighted sets have no bands");
    if (is_of_one(measure_of(measure)) && bands != 0)
        throw std::invalid_argument("bands do not find documents of any size; leave them out");
    return {measure_of(measure), weighted, threshold, bands, minima};
}

DeadNumbers dead_of(const NumberArray& dead) {
    if (!std::is_sorted(dead.data(), dead.data() + dead.size()))
        throw std::invalid_argument("dead numbers must be in ascending order");
    return {dead.data(), dead.size()};
}

FeatureBlock block_of(const BlockPlace& place) {
    const auto& [data, first, documents, numbers, expires, starts, features] = place;
    const FeatureBlock block = {data.data(), data.size(), first,  documents,
                                numbers,     expires,     starts, features};
    block.check();
    return block;
}

std::vector<FeatureBlock> blocks_of(const std::vector<BlockPlace>& places) {
    std::vector<FeatureBlock> blocks;
    for (const BlockPlace& place : places) blocks.push_back(block_of(place));
    return blocks;
}

// A segment with the buffers that it reads from.
struct HeldSegment {
    Bytes data;
    std::vector<BlockPlace> places;
    SetSegment segment;

    HeldSegment(Bytes bytes, std::vector<BlockPlace> blocks)
        : data(std::move(bytes)),
          places(std::move(blocks)),
          segment(data.data(), data.size(), blocks_of(places)) {}
};

// One state of an index with what it consists of.
struct HeldView {
    std::vector<nb::object> kept;
    std::vector<NumberArray> dead;
    SetView view;
};

SetDocuments documents_of(const SetPlan& plan, const Input<std::int64_t>& offsets,
                          const Input<std::uint64_t>& hashes,
                          const std::optional<Input<double>>& weights, std::size_t threads) {
    if (offsets.size() == 0) throw std::invalid_argument("documents need offsets");
    if (plan.weighted != weights.has_value())
        throw std::invalid_argument("weights do not fit the plan");
    if (weights && weights->size() != hashes.size())
        throw std::invalid_argument("every feature needs its weight");
    const std::int64_t* at = offsets.data();
    const std::size_t count = offsets.size() - 1;
    if (at[0] < 0 || at[count] > static_cast<std::int64_t>(hashes.size()))
        throw std::invalid_argument("offsets point outside the features");
    for (std::size_t i = 0; i < count; ++i) {
        if (at[i] > at[i + 1]) throw std::invalid_argument("offsets must not decrease");
        if (static_cast<std::size_t>(at[i + 1] - at[i]) > kMostFeatures)
            throw std::invalid_argument("a document has too many features");
        for (std::int64_t k = at[i] + 1; k < at[i + 1]; ++k)
            if (hashes.data()[k - 1] >= hashes.data()[k])
                throw std::invalid_argument("features of a document must ascend");
    }
    if (weights && !std::all_of(weights->data() + at[0], weights->data() + at[count], is_weight))
        throw std::invalid_argument("weights must be 0, or from 1e-100 to 1e100");
    nb::gil_scoped_release release;
    return SetDocuments(plan, {at, count, hashes.data(), weights ? weights->data() : nullptr},
                        threads);
}

// One text: its set, its number of words and its fingerprint, without a detour through arrays.
auto text_document(const SetPlan& plan, const nb::str& text,
                   const std::vector<std::pair<bool, std::size_t>>& kinds,
                   const Input<std::uint64_t>& key_words, std::uint32_t bits, bool ties_up,
                   const std::string& isa) {
    if (plan.weighted || bits == 0) throw std::invalid_argument("only sets without weights");
    Py_ssize_t size = 0;
    const char* data = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
    if (data == nullptr) throw nb::python_error();
    const KeyWords key(key_words);
    std::vector<Shingle> shingles;
    for (const auto& [words, length] : kinds) {
        if (length == 0) throw std::invalid_argument("shingles have at least one unit");
        shingles.push_back({words, length});
    }
    const std::int64_t offsets[] = {0, size};
    const Column column{reinterpret_cast<const std::uint8_t*>(data), offsets, 1};
    const TextKernels& kernels = text_kernels_for(isa);
    const TermRecipe recipe{bits, ties_up, key.get()};
    std::vector<std::uint64_t> row(recipe.row_limbs());
    std::optional<SetDocuments> documents;
    std::uint32_t words = 0;
    {
        nb::gil_scoped_release release;
        const FeatureTable table =
            features_of(column, {shingles.data(), shingles.size(), key.get()}, false, 1, kernels);
        const FeatureColumn features{table.offsets.data(), 1, table.hashes.data(), nullptr};
        weigh_features(features, recipe, {row.data(), nullptr}, 1, kernels);
        words = table.words[0];
        documents.emplace(plan, features, 1);
    }
    return std::tuple(std::move(*documents), words,
                      nb::bytes(reinterpret_cast<const char*>(row.data()), 8 * row.size()));
}

nb::bytes stored_one(const SetDocuments& documents, std::size_t place) {
    if (place >= documents.size()) throw std::invalid_argument("no document is at that place");
    PyObject* bytes =
        PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(documents.stored_bytes(place)));
    if (bytes == nullptr) throw nb::python_error();
    auto owned = nb::steal<nb::bytes>(bytes);
    documents.store(place, reinterpret_cast<std::uint8_t*>(PyBytes_AsString(bytes)));
    return owned;
}

auto stored(const SetDocuments& documents) {
    std::vector<std::int64_t> offsets(documents.size() + 1);
    for (std::size_t i = 0; i < documents.size(); ++i)
        offsets[i + 1] = offsets[i] + static_cast<std::int64_t>(documents.stored_bytes(i));
    std::vector<std::uint8_t> data(static_cast<std::size_t>(offsets.back()));
    {
        nb::gil_scoped_release release;
        for (std::size_t i = 0; i < documents.size(); ++i)
            documents.store(i, data.data() + offsets[i]);
    }
    return std::pair(array_of(std::move(offsets)), array_of(std::move(data)));
}

auto read_features(const Bytes& data) {
    ReadSet set;
    set.read({data.data(), data.size()});
    std::vector<std::uint64_t> hashes(set.size());
    std::optional<std::vector<double>> weights;
    if (set.weighted()) {
        std::copy_n(set.view().hashes, set.size(), hashes.begin());
        weights.emplace(set.view().weights, set.view().weights + set.size());
    } else {
        std::copy_n(set.features(), set.size(), hashes.begin());
    }
    return std::pair(array_of(std::move(hashes)), std::move(weights));
}

SetQuestion question_of(double threshold, const std::optional<std::size_t>& limit,
                        std::int64_t now) {
    return {threshold, limit.value_or(std::numeric_limits<std::size_t>::max()), now};
}

auto found_arrays(FoundSets&& found) {
    return std::tuple(array_of(std::move(found.offsets)), array_of(std::move(found.numbers)),
                      array_of(std::move(found.similarities)));
}

auto search(const HeldView& self, const SetDocuments& documents, double threshold,
            const std::optional<std::size_t>& limit, std::int64_t now,
            const std::optional<NumberArray>& skip, std::size_t threads, const std::string& isa) {
    if (skip && skip->size() != documents.size())
        throw std::invalid_argument("every document needs a number to skip");
    const SetKernels& kernels = set_kernels_for(isa);
    FoundSets found;
    {
        nb::gil_scoped_release release;
        found = search_sets(self.view, documents, question_of(threshold, limit, now),
                            skip ? skip->data() : nullptr, threads, kernels);
    }
    return found_arrays(std::move(found));
}

auto search_one(const HeldView& self, const SetDocuments& documents, std::size_t place,
                double threshold, const std::optional<std::size_t>& limit, std::int64_t now,
                std::uint64_t skip) {
    if (place >= documents.size()) throw std::invalid_argument("no document is at that place");
    static const SetKernels& kernels = set_kernels_for("auto");
    std::vector<SetMatch> matches;
    {
        nb::gil_scoped_release release;
        matches = search_set(self.view, documents.at(place), documents.plan(),
                             question_of(threshold, limit, now), skip, kernels);
    }
    nb::list list;
    for (const SetMatch& match : matches)
        list.append(nb::make_tuple(match.number, match.similarity));
    return list;
}

void register_documents(nb::module_& m) {
    nb::class_<SetPlan>(m, "SetPlan")
        .def(
            "__init__",
            [](SetPlan* self, const std::string& measure, bool weighted, double threshold,
               std::uint32_t bands, std::uint32_t minima) {
                new (self) SetPlan(plan_of(measure, weighted, threshold, bands, minima));
            },
            "measure"_a, nb::kw_only(), "weighted"_a, "threshold"_a, "bands"_a, "minima"_a)
        .def_ro("threshold", &SetPlan::threshold)
        .def_ro("weighted", &SetPlan::weighted)
        .def_ro("bands", &SetPlan::bands)
        .def_ro("minima", &SetPlan::minima);
    nb::class_<SetDocuments>(m, "SetDocuments")
        .def(
            "__init__",
            [](SetDocuments* self, const SetPlan& plan, const Input<std::int64_t>& offsets,
               const Input<std::uint64_t>& hashes, const std::optional<Input<double>>& weights,
               std::size_t threads) {
                new (self) SetDocuments(documents_of(plan, offsets, hashes, weights, threads));
            },
            "plan"_a, "offsets"_a, "hashes"_a, "weights"_a.none(), nb::kw_only(), "threads"_a)
        .def("__len__", &SetDocuments::size)
        .def("stored", &stored)
        .def("stored_one", &stored_one, "place"_a);
    m.def("text_document", &text_document, "plan"_a, "text"_a, nb::kw_only(), "shingles"_a, "key"_a,
          "bits"_a, "ties_up"_a, "isa"_a);
    m.def("read_features", &read_features, "data"_a);
}

void register_tail(nb::module_& m) {
    nb::class_<SetTail>(m, "SetTail")
        .def(nb::init<const SetPlan&>(), "plan"_a)
        .def("__len__", &SetTail::size)
        .def(
            "add",
            [](SetTail& self, const SetDocuments& documents, std::size_t place,
               std::uint64_t number, std::int64_t expires, std::uint64_t revision) {
                if (place >= documents.size())
                    throw std::invalid_argument("no document is at that place");
                nb::gil_scoped_release release;
                self.add(documents, place, number, expires, revision);
            },
            "documents"_a, "place"_a, "number"_a, "expires"_a, "revision"_a)
        .def(
            "add_block",
            [](SetTail& self, const BlockPlace& place, std::uint64_t revision) {
                const FeatureBlock block = block_of(place);
                nb::gil_scoped_release release;
                for (std::size_t i = 0; i < block.documents; ++i) {
                    const StoredSet stored = block.set(i);
                    if (stored.size != 0)
                        self.add(stored, block.number(i), block.expiry(i), revision);
                }
            },
            "block"_a, "revision"_a)
        .def("remove", &SetTail::remove, "number"_a, "revision"_a,
             nb::call_guard<nb::gil_scoped_release>())
        .def("undo", &SetTail::undo, "revision"_a, nb::call_guard<nb::gil_scoped_release>());
}

void register_segment(nb::module_& m) {
    nb::class_<HeldSegment>(m, "SetSegment")
        .def(nb::init<Bytes, std::vector<BlockPlace>>(), "data"_a, "blocks"_a)
        .def("check", [](const HeldSegment& self) { self.segment.check(); })
        .def_prop_ro("documents",
                     [](const HeldSegment& self) { return self.segment.head().documents; })
        .def_prop_ro("sets", [](const HeldSegment& self) { return self.segment.head().sets; })
        .def_prop_ro("prefix_postings",
                     [](const HeldSegment& self) { return self.segment.head().prefix_postings; });
    m.def(
        "pack_sets",
        [](const SetPlan& plan, const std::vector<BlockPlace>& places,
           const std::optional<NumberArray>& numbers, std::size_t threads) {
            const ChosenNumbers chosen{numbers ? numbers->data() : nullptr,
                                       numbers ? numbers->size() : 0, !numbers};
            if (!std::is_sorted(chosen.numbers, chosen.numbers + chosen.count))
                throw std::invalid_argument("numbers must be in ascending order");
            const std::vector<FeatureBlock> blocks = blocks_of(places);
            std::vector<std::uint64_t> words;
            {
                nb::gil_scoped_release release;
                words = pack_sets(plan, blocks, chosen, threads);
            }
            return nb::bytes(reinterpret_cast<const char*>(words.data()), 8 * words.size());
        },
        "plan"_a, "blocks"_a, "numbers"_a.none(), nb::kw_only(), "threads"_a);
}

void register_search(nb::module_& m) {
    nb::class_<HeldView>(m, "SetView")
        .def(
            "__init__",
            [](HeldView* self, const std::vector<nb::object>& segments,
               const std::vector<NumberArray>& dead, const nb::object& tail,
               std::uint64_t revision) {
                if (segments.size() != dead.size())
                    throw std::invalid_argument("every segment needs its dead");
                HeldView made{{}, dead, {{}, {}, nullptr, revision}};
                for (const nb::object& segment : segments) {
                    made.view.segments.push_back(&nb::cast<const HeldSegment&>(segment).segment);
                    made.kept.push_back(segment);
                }
                for (const NumberArray& numbers : made.dead)
                    made.view.dead.push_back(dead_of(numbers));
                if (!tail.is_none()) {
                    made.view.tail = &nb::cast<const SetTail&>(tail);
                    made.kept.push_back(tail);
                }
                new (self) HeldView(std::move(made));
            },
            "segments"_a, "dead"_a, "tail"_a.none(), "revision"_a)
        .def("search", &search, "documents"_a, nb::kw_only(), "threshold"_a, "limit"_a.none(),
             "now"_a, "skip"_a.none(), "threads"_a, "isa"_a)
        .def("search_one", &search_one, "documents"_a, "place"_a, "threshold"_a, "limit"_a.none(),
             "now"_a, "skip"_a);
}

}  // namespace

void register_set_index(nb::module_& m) {
    register_documents(m);
    register_tail(m);
    register_segment(m);
    register_search(m);
}

}  // namespace neardup::bind
