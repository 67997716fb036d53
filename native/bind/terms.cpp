#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "neardup/dispatch.hpp"
#include "neardup/terms/kernels.hpp"
#include "neardup/terms/keywords.hpp"
#include "neardup/terms/segmenter.hpp"
#include "neardup/terms/sentences.hpp"
#include "neardup/terms/term_hashes.hpp"
#include "neardup/terms/text_terms.hpp"

namespace neardup::bind {

using nb::literals::operator""_a;

namespace {

// View terms. Checks them, so that no kernel can read outside the data.
TermList term_list_of(const Input<std::uint8_t>& data, const Input<std::int64_t>& begins,
                      const Input<std::int64_t>& lengths) {
    if (begins.size() != lengths.size())
        throw std::invalid_argument("every term has a beginning and a length");
    const auto size = static_cast<std::int64_t>(data.size());
    bool inside = true;
    for (std::size_t i = 0; i < begins.size(); ++i) {
        const std::int64_t begin = begins.data()[i], length = lengths.data()[i];
        inside &= begin >= 0 && begin <= size && length >= 0 && length <= size - begin;
    }
    if (!inside) throw std::invalid_argument("a term lies outside the data");
    return {data.data(), data.size(), begins.data(), lengths.data(), begins.size()};
}

auto copied(Arena& bytes) {
    auto data = std::make_unique<std::uint8_t[]>(bytes.size());
    if (bytes.size() != 0) std::memcpy(data.get(), bytes.data(), bytes.size());
    return owned_array(data.release(), bytes.size());
}

// The vocabulary and the documents, as Python takes them.
auto arrays_of(FoundTerms&& found) {
    std::vector<std::uint8_t> units(found.units.size());
    for (std::size_t i = 0; i < units.size(); ++i)
        units[i] = static_cast<std::uint8_t>(found.units[i]);
    return std::tuple(array_of(std::move(found.offsets)), array_of(std::move(found.places)),
                      array_of(std::move(found.counts)), copied(found.bytes),
                      array_of(std::move(found.begins)), array_of(std::move(found.lengths)),
                      array_of(std::move(units)), array_of(std::move(found.fields)));
}

using Source = std::tuple<Input<std::uint8_t>, Input<std::int64_t>, Input<std::int64_t>,
                          Input<std::uint32_t>, bool, std::size_t, std::uint32_t>;

// View a source of terms; `documents` is empty where every document is one string.
TermSource source_of(const Source& source, std::size_t fields, std::size_t documents) {
    const auto& [data, offsets, strings, words, are_words, size, field] = source;
    const Column column = column_of(data, offsets);
    if (size == 0) throw std::invalid_argument("shingles have at least one unit");
    if (field >= fields) throw std::invalid_argument("a field has no prefix");
    if (words.size() != documents)
        throw std::invalid_argument("every document has a number of words");
    if (strings.size() == 0) {
        if (column.count != documents) throw std::invalid_argument("every document has a text");
        return {column, nullptr, words.data(), {are_words, size}, field};
    }
    const std::int64_t* at = strings.data();
    if (strings.size() != documents + 1 || at[0] < 0 ||
        at[documents] > static_cast<std::int64_t>(column.count))
        throw std::invalid_argument("documents point outside the strings");
    for (std::size_t i = 0; i < documents; ++i)
        if (at[i] > at[i + 1]) throw std::invalid_argument("documents must not go back");
    return {column, at, words.data(), {are_words, size}, field};
}

auto text_terms(const std::vector<Source>& sources, const std::vector<nb::bytes>& prefixes,
                std::size_t documents, const std::string& isa) {
    std::vector<std::string> names;
    for (const nb::bytes& prefix : prefixes) names.emplace_back(prefix.c_str(), prefix.size());
    std::vector<TermSource> views;
    for (const Source& source : sources)
        views.push_back(source_of(source, names.size(), documents));
    const TermKernels& kernels = term_kernels_for(isa);
    FoundTerms found = [&] {
        nb::gil_scoped_release release;
        return find_terms(views, names, documents, kernels);
    }();
    return arrays_of(std::move(found));
}

auto md5(const Input<std::uint8_t>& data, const Input<std::int64_t>& begins,
         const Input<std::int64_t>& lengths, std::size_t limbs, std::size_t threads,
         const std::string& isa) {
    if (limbs != 1 && limbs != 2) throw std::invalid_argument("MD5 has one or two limbs");
    const TermList terms = term_list_of(data, begins, lengths);
    const TermKernels& kernels = term_kernels_for(isa);
    auto rows = std::make_unique<std::uint64_t[]>(terms.count * limbs);
    {
        nb::gil_scoped_release release;
        md5_rows(terms, limbs, rows.get(), threads, kernels);
    }
    return owned_array(rows.release(), terms.count, limbs);
}

auto hash_terms(const Input<std::uint8_t>& data, const Input<std::int64_t>& begins,
                const Input<std::int64_t>& lengths, const Input<std::uint8_t>& units,
                std::size_t limbs, const Input<std::uint64_t>& key_words, std::size_t threads) {
    if (limbs == 0) throw std::invalid_argument("a hash has at least one limb");
    const KeyWords key(key_words);
    const TermList terms = term_list_of(data, begins, lengths);
    if (units.size() != 0 && units.size() != terms.count)
        throw std::invalid_argument("every term needs its kind of units");
    std::vector<TermUnits> kinds;
    for (std::size_t i = 0; i < units.size(); ++i) {
        if (units.data()[i] > 2) throw std::invalid_argument("units are one of three kinds");
        kinds.push_back(static_cast<TermUnits>(units.data()[i]));
    }
    auto rows = std::make_unique<std::uint64_t[]>(terms.count * limbs);
    {
        nb::gil_scoped_release release;
        term_hashes(terms, kinds.empty() ? nullptr : kinds.data(), key.get(), limbs, rows.get(),
                    threads);
    }
    return owned_array(rows.release(), terms.count, limbs);
}

// The sentences as a column of their own.
auto sentences(const Input<std::uint8_t>& data, const Input<std::int64_t>& offsets, bool edges,
               std::size_t threads) {
    const Column texts = column_of(data, offsets);
    Sentences found;
    std::unique_ptr<std::uint8_t[]> bytes;
    std::vector<std::int64_t> ends{0};
    {
        nb::gil_scoped_release release;
        found = cut_sentences(texts, edges, threads);
        for (const std::int64_t length : found.lengths) ends.push_back(ends.back() + length);
        bytes.reset(new std::uint8_t[static_cast<std::size_t>(ends.back())]);
        for (std::size_t i = 0; i < found.begins.size(); ++i)
            std::memcpy(bytes.get() + ends[i], texts.data + found.begins[i],
                        static_cast<std::size_t>(found.lengths[i]));
    }
    const auto size = static_cast<std::size_t>(ends.back());
    return std::tuple(array_of(std::move(found.documents)), owned_array(bytes.release(), size),
                      array_of(std::move(ends)));
}

auto longest(const Input<std::uint8_t>& data, const Input<std::int64_t>& offsets,
             const Input<std::int64_t>& documents, const Input<std::uint32_t>& words,
             const Input<std::uint64_t>& hashes, std::size_t count) {
    const Column column = column_of(data, offsets);
    if (words.size() != column.count || hashes.size() != column.count)
        throw std::invalid_argument("every sentence has a number of words and a hash");
    const std::int64_t* at = documents.data();
    const std::size_t texts = documents.size() == 0 ? 0 : documents.size() - 1;
    for (std::size_t i = 0; i < texts; ++i)
        if (at[i] < 0 || at[i] > at[i + 1] || at[i + 1] > static_cast<std::int64_t>(column.count))
            throw std::invalid_argument("documents point outside the sentences");
    std::vector<std::int64_t> chosen, kept;
    {
        nb::gil_scoped_release release;
        chosen = longest_sentences(column, at, texts, words.data(), hashes.data(), count, kept);
    }
    return std::pair(array_of(std::move(kept)), array_of(std::move(chosen)));
}

std::unique_ptr<Segmenter> segmenter(const Input<std::uint8_t>& data,
                                     const Input<std::int64_t>& offsets,
                                     const Input<double>& weights, double unknown_word,
                                     const Input<std::uint32_t>& characters,
                                     const InputRows<double>& emissions,
                                     const std::vector<double>& starts,
                                     const std::vector<double>& moves) {
    const Column words = column_of(data, offsets);
    if (weights.size() != words.count) throw std::invalid_argument("every word needs its weight");
    if (emissions.shape(0) != characters.size() || emissions.shape(1) != 4)
        throw std::invalid_argument("every character has a weight in each of four states");
    if (starts.size() != 4 || moves.size() != 8)
        throw std::invalid_argument("there are four states and eight moves between them");
    std::vector<Segmenter::Scores> scores(characters.size());
    for (std::size_t i = 0; i < scores.size(); ++i)
        std::copy_n(emissions.data() + 4 * i, 4, scores[i].begin());
    Segmenter::Scores first;
    std::copy_n(starts.begin(), 4, first.begin());
    std::array<double, 8> steps;
    std::copy_n(moves.begin(), 8, steps.begin());
    nb::gil_scoped_release release;
    return std::make_unique<Segmenter>(words, weights.data(), unknown_word, characters.data(),
                                       scores.data(), scores.size(), first, steps);
}

// The words of one text; for tests and single texts.
auto cut_words(const Segmenter& self, const std::string& text) {
    std::vector<std::string> words;
    Segmenter::Work work;
    self.cut(reinterpret_cast<const std::uint8_t*>(text.data()), text.size(), work,
             [&](auto begin, auto end, std::size_t) {
                 words.push_back(text.substr(begin, end - begin));
             });
    return words;
}

auto han_counts(const Input<std::uint8_t>& data, const Input<std::int64_t>& offsets) {
    const Column texts = column_of(data, offsets);
    std::vector<std::uint32_t> counts(texts.count);
    bool segmented = false;
    {
        nb::gil_scoped_release release;
        for (std::size_t i = 0; i < texts.count; ++i) {
            const auto size = static_cast<std::size_t>(texts.offsets[i + 1] - texts.offsets[i]);
            const HanCount count = count_han(texts.data + texts.offsets[i], size);
            counts[i] = count.characters;
            segmented |= count.segmented;
        }
    }
    return std::pair(array_of(std::move(counts)), segmented);
}

auto candidates(const Input<std::uint8_t>& data, const Input<std::int64_t>& offsets,
                const Input<std::uint8_t>& chinese, const Segmenter* segmenter,
                const std::string& isa) {
    const Column texts = column_of(data, offsets);
    if (chinese.size() != texts.count)
        throw std::invalid_argument("every text is Chinese or is not");
    for (std::size_t i = 0; i < chinese.size() && segmenter == nullptr; ++i)
        if (chinese.data()[i] != 0) throw std::invalid_argument("Chinese texts need a segmenter");
    const TermKernels& kernels = term_kernels_for(isa);
    FoundTerms found = [&] {
        nb::gil_scoped_release release;
        return keyword_candidates(texts, chinese.data(), segmenter, kernels);
    }();
    return arrays_of(std::move(found));
}

auto best_terms(const Input<std::uint8_t>& data, const Input<std::int64_t>& begins,
                const Input<std::int64_t>& lengths, const Input<std::int64_t>& offsets,
                const Input<std::int32_t>& places, const Input<double>& weights,
                const Input<std::uint8_t>& in_order, std::size_t count) {
    const TermList terms = term_list_of(data, begins, lengths);
    if (places.size() != weights.size() || offsets.size() != in_order.size() + 1)
        throw std::invalid_argument("every entry has a weight, every document an order");
    const std::int64_t* at = offsets.data();
    for (std::size_t i = 0; i < in_order.size(); ++i)
        if (at[i] < 0 || at[i] > at[i + 1] || at[i + 1] > static_cast<std::int64_t>(places.size()))
            throw std::invalid_argument("documents point outside the entries");
    for (std::size_t i = 0; i < places.size(); ++i)
        if (static_cast<std::uint32_t>(places.data()[i]) >= terms.count)
            throw std::invalid_argument("an entry is no term");
    std::vector<std::int64_t> kept, best;
    {
        nb::gil_scoped_release release;
        best = best_entries(terms, at, in_order.size(), places.data(), weights.data(),
                            in_order.data(), count, kept);
    }
    return std::pair(array_of(std::move(kept)), array_of(std::move(best)));
}

void register_keywords(nb::module_& m) {
    nb::class_<Segmenter>(m, "Segmenter").def("cut", &cut_words, "text"_a);
    m.def("segmenter", &segmenter, "data"_a, "offsets"_a, "weights"_a, nb::kw_only(),
          "unknown_word"_a, "characters"_a, "emissions"_a, "starts"_a, "moves"_a);
    m.def("han_counts", &han_counts, "data"_a, "offsets"_a);
    m.def("keyword_candidates", &candidates, "data"_a, "offsets"_a, "chinese"_a,
          "segmenter"_a.none(), nb::kw_only(), "isa"_a);
    m.def("best_terms", &best_terms, "data"_a, "begins"_a, "lengths"_a, "offsets"_a, "places"_a,
          "weights"_a, "in_order"_a, nb::kw_only(), "count"_a);
}

}  // namespace

void register_terms(nb::module_& m) {
    register_keywords(m);
    m.def("sentences", &sentences, "data"_a, "offsets"_a, nb::kw_only(), "edges"_a, "threads"_a);
    m.def("longest_sentences", &longest, "data"_a, "offsets"_a, "documents"_a, "words"_a,
          "hashes"_a, nb::kw_only(), "count"_a);
    m.def("text_terms", &text_terms, "sources"_a, "prefixes"_a, "documents"_a, nb::kw_only(),
          "isa"_a);
    m.def("md5", &md5, "data"_a, "begins"_a, "lengths"_a, nb::kw_only(), "limbs"_a, "threads"_a,
          "isa"_a);
    m.def("hash_terms", &hash_terms, "data"_a, "begins"_a, "lengths"_a, "units"_a, nb::kw_only(),
          "limbs"_a, "key"_a, "threads"_a);
}

}  // namespace neardup::bind
