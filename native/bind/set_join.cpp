#include "neardup/set_join/join.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "documents.hpp"
#include "neardup/set_join/dense.hpp"
#include "neardup/set_join/possible.hpp"
#include "neardup/set_join/star_join.hpp"

namespace neardup::bind {

using nb::literals::operator""_a;

namespace {

using MaybeDocuments = std::optional<Documents>;

Measure measure_of(const std::string& name, bool weighted) {
    if (name == "cosine") return Measure::cosine;
    if (name == "weighted-jaccard") return Measure::weighted_jaccard;
    if (name == "containment") return Measure::containment;
    if (name == "inclusion") return Measure::inclusion;
    if (name != "jaccard") throw std::invalid_argument("no measure is called '" + name + "'");
    if (weighted) throw std::invalid_argument("jaccard takes no weights");
    return Measure::jaccard;
}

// The measures read features in order, so they must ascend.
void check_features(const FeatureColumn& column, std::size_t place) {
    bool ascending = true, weighable = true;
    const auto first = static_cast<std::size_t>(column.offsets[place]),
               last = static_cast<std::size_t>(column.offsets[place + 1]);
    for (std::size_t i = first + 1; i < last; ++i)
        ascending &= column.hashes[i - 1] < column.hashes[i];
    if (!ascending)
        throw std::invalid_argument("the features of a document must ascend, each once");
    if (column.weights == nullptr) return;
    for (std::size_t i = first; i < last; ++i) {
        const double weight = column.weights[i];
        weighable &= weight == 0 || (weight >= 1e-100 && weight <= 1e100);
    }
    if (!weighable) throw std::invalid_argument("weights must be 0, or from 1e-100 to 1e100");
}

Collections collections_of(const Documents& left, const MaybeDocuments& right) {
    const Collections all{column_of(left), right ? column_of(*right) : FeatureColumn{},
                          right.has_value()};
    if (right && (all.left.weights == nullptr) != (all.right.weights == nullptr))
        throw std::invalid_argument("both collections need weights, or neither");
    if (all.left.count + all.right.count > kMostDocuments)
        throw std::invalid_argument("too many documents for one join");
    return all;
}

void check_features(const Collections& documents) {
    for (std::size_t i = 0; i < documents.left.count; ++i) check_features(documents.left, i);
    for (std::size_t i = 0; i < documents.right.count; ++i) check_features(documents.right, i);
}

// Checks only documents that are in a pair.
void check_features(const FeatureColumn& column, const std::int64_t* places, std::size_t count) {
    std::vector<bool> checked(column.count);
    for (std::size_t i = 0; i < count; ++i) {
        const auto place = static_cast<std::size_t>(places[i]);
        if (!checked[place]) check_features(column, place);
        checked[place] = true;
    }
}

PairList pairs_of(const Places& a, const Places& b, std::size_t count, std::size_t others) {
    if (a.size() != b.size()) throw std::invalid_argument("a and b must be of one length");
    bool there = true;
    for (std::size_t i = 0; i < a.size(); ++i)
        there &= static_cast<std::size_t>(a.data()[i]) < count &&
                 static_cast<std::size_t>(b.data()[i]) < others;
    if (!there) throw std::invalid_argument("a pair names a document that is not there");
    return {a.data(), b.data(), a.size()};
}

std::size_t checked_threads(std::size_t threads) {
    if (threads == 0) throw std::invalid_argument("at least one thread is needed");
    return threads;
}

double checked_threshold(double threshold) {
    if (!(threshold > 0 && threshold <= 1))
        throw std::invalid_argument("a threshold is above 0 and at most 1");
    return threshold;
}

auto similarities_of(const Documents& left, const MaybeDocuments& right, const Places& a,
                     const Places& b, const std::string& name, std::size_t threads) {
    const Collections documents = collections_of(left, right);
    const Measure measure = measure_of(name, documents.left.weights != nullptr);
    const PairList pairs = pairs_of(a, b, documents.left.count, documents.others().count);
    checked_threads(threads);
    auto found = std::make_unique<double[]>(pairs.count);
    {
        nb::gil_scoped_release release;
        check_features(documents.left, pairs.a, pairs.count);
        check_features(documents.others(), pairs.b, pairs.count);
        similarities(documents, pairs, measure, threads, found.get());
    }
    return owned_array(found.release(), pairs.count);
}

// Pairs as three columns: places of the first and the second document, similarity.
auto columns_of(const std::vector<SimilarPair>& pairs) {
    const std::size_t count = pairs.size();
    auto a = std::make_unique<std::int64_t[]>(count), b = std::make_unique<std::int64_t[]>(count);
    auto similarity = std::make_unique<double[]>(count);
    for (std::size_t i = 0; i < count; ++i) {
        a[i] = static_cast<std::int64_t>(pairs[i].places >> 32);
        b[i] = static_cast<std::int64_t>(pairs[i].places & 0xFFFFFFFF);
        similarity[i] = pairs[i].similarity;
    }
    return std::tuple(owned_array(a.release(), count), owned_array(b.release(), count),
                      owned_array(similarity.release(), count));
}

auto join(const Documents& left, const MaybeDocuments& right, const std::string& name,
          double threshold, std::uint64_t most, std::uint64_t most_pairs, std::size_t threads) {
    const Collections documents = collections_of(left, right);
    const Measure measure = measure_of(name, documents.left.weights != nullptr);
    checked_threshold(threshold);
    checked_threads(threads);
    SetJoin found;
    {
        nb::gil_scoped_release release;
        check_features(documents);
        found = join_sets(documents, measure, threshold, most, threads, most_pairs);
    }
    return std::tuple_cat(columns_of(found.pairs),
                          std::tuple(found.compared, found.postings, found.done));
}

std::uint64_t predict(const Documents& left, const MaybeDocuments& right, const std::string& name,
                      double threshold, std::size_t threads) {
    const Collections documents = collections_of(left, right);
    const Measure measure = measure_of(name, documents.left.weights != nullptr);
    checked_threshold(threshold);
    checked_threads(threads);
    nb::gil_scoped_release release;
    check_features(documents);
    return predict_postings(documents, measure, threshold, threads);
}

using Flags = nb::ndarray<bool, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

bool* flags_of(Flags& wanted, const FeatureColumn& column) {
    if (wanted.size() != column.count)
        throw std::invalid_argument("wanted has one flag for each document");
    return wanted.data();
}

void register_shared_filter(nb::module_& m) {
    nb::class_<SharedFilter>(m, "SharedFilter")
        .def(nb::init<std::size_t, bool>(), "features"_a, "two"_a)
        .def(
            "see",
            [](SharedFilter& self, const Documents& documents, Flags wanted, bool right,
               std::size_t threads) {
                const FeatureColumn column = column_of(documents);
                const bool* flags = flags_of(wanted, column);
                checked_threads(threads);
                nb::gil_scoped_release release;
                self.see(column, right, flags, threads);
            },
            "documents"_a, "wanted"_a, nb::kw_only(), "right"_a, "threads"_a)
        .def(
            "keep_possible",
            [](const SharedFilter& self, const Documents& documents, Flags wanted,
               const std::string& name, double threshold, std::size_t threads) {
                const FeatureColumn column = column_of(documents);
                const Measure measure = measure_of(name, column.weights != nullptr);
                bool* flags = flags_of(wanted, column);
                checked_threshold(threshold);
                checked_threads(threads);
                nb::gil_scoped_release release;
                keep_possible(column, measure, threshold, self, threads, flags);
            },
            "documents"_a, "wanted"_a, nb::kw_only(), "measure"_a, "threshold"_a, "threads"_a);
}

void register_document_counts(nb::module_& m) {
    nb::class_<DocumentCounts>(m, "DocumentCounts")
        .def(nb::init<std::size_t, std::size_t>(), "features"_a, "most_bytes"_a)
        .def(
            "see",
            [](DocumentCounts& self, const Documents& documents, Flags wanted,
               std::size_t threads) {
                const FeatureColumn column = column_of(documents);
                const bool* flags = flags_of(wanted, column);
                checked_threads(threads);
                nb::gil_scoped_release release;
                self.see(column, flags, threads);
            },
            "documents"_a, "wanted"_a, nb::kw_only(), "threads"_a)
        .def(
            "finish",
            [](DocumentCounts& self, std::size_t threads) {
                checked_threads(threads);
                nb::gil_scoped_release release;
                self.finish(threads);
            },
            nb::kw_only(), "threads"_a);
}

// Stored features, and the arrays that they are in.
struct HeldFeatures {
    explicit HeldFeatures(bool weighted) : stored(weighted) {}

    StoredFeatures stored;
    std::vector<Documents> in_memory;
    std::vector<Places> offsets;

    void add(const Documents& documents) {
        const FeatureColumn column = column_of(documents);
        if ((column.weights != nullptr) != stored.weighted())
            throw std::invalid_argument("all documents need weights, or none");
        require_room(column.count);
        in_memory.push_back(documents);
        stored.add({column.offsets, column.count, column.hashes, column.weights, -1, 0, 0, 0});
    }

    void add_from_file(int file, const Places& starts, std::uint64_t hashes_at,
                       std::uint64_t weights_at) {
        if (starts.size() == 0) throw std::invalid_argument("a column has at least one offset");
        const std::int64_t* at = starts.data();
        bool ascending = at[0] >= 0;
        for (std::size_t i = 1; i < starts.size(); ++i) ascending &= at[i - 1] <= at[i];
        if (!ascending) throw std::invalid_argument("offsets must not decrease");
        require_room(starts.size() - 1);
        offsets.push_back(starts);
        stored.add({at, starts.size() - 1, nullptr, nullptr, file, hashes_at, weights_at, 0});
    }

  private:
    void require_room(std::size_t more) const {
        if (stored.count() + more > kMostDocuments)
            throw std::invalid_argument("too many documents for one join");
    }
};

void register_stored_features(nb::module_& m) {
    nb::class_<HeldFeatures>(m, "StoredFeatures")
        .def(nb::init<bool>(), "weighted"_a)
        .def("__len__", [](const HeldFeatures& self) { return self.stored.count(); })
        .def("add", &HeldFeatures::add, "documents"_a)
        .def("add_from_file", &HeldFeatures::add_from_file, "file"_a, "offsets"_a, nb::kw_only(),
             "hashes_at"_a, "weights_at"_a);
}

template <typename T>
using Output = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// What is known of each of `count` documents. The kernels follow `copy_of` of documents that
// `check_places` has seen.
Decisions decisions_of(const Places& copy_of, Output<std::uint8_t>& decision,
                       Output<std::int64_t>& kept_for, Output<double>& similarity,
                       std::size_t count) {
    if (copy_of.size() != count || decision.size() != count || kept_for.size() != count ||
        similarity.size() != count)
        throw std::invalid_argument("what is known has one entry for each document");
    return {copy_of.data(), reinterpret_cast<Decision*>(decision.data()), kept_for.data(),
            similarity.data()};
}

void check_places(const Places& places, std::size_t count) {
    bool there = true;
    for (std::size_t i = 0; i < places.size(); ++i)
        there &= static_cast<std::size_t>(places.data()[i]) < count;
    if (!there) throw std::invalid_argument("places name a document that is not there");
}

void check_places(const Places& places, const Decisions& known, std::size_t count) {
    check_places(places, count);
    bool there = true;
    for (std::size_t i = 0; i < places.size(); ++i)
        there &= static_cast<std::size_t>(known.copy_of[places.data()[i]]) < count;
    if (!there) throw std::invalid_argument("a copy names a document that is not there");
}

// A join, and what it reads.
struct HeldJoin {
    HeldJoin(const HeldFeatures& features, DocumentCounts& counts, const std::string& name,
             double threshold, std::size_t feature_count, std::size_t memory)
        : documents(features.stored.count()),
          join(star_join(features.stored, counts, measure_of(name, features.stored.weighted()),
                         checked_threshold(threshold), feature_count, memory)) {}

    std::size_t documents;
    std::unique_ptr<StarJoin> join;

    std::size_t decide(const Places& places, const Places& copy_of, Output<std::uint8_t> decision,
                       Output<std::int64_t> kept_for, Output<double> similarity,
                       std::size_t threads) {
        const Decisions known = decisions_of(copy_of, decision, kept_for, similarity, documents);
        check_places(places, known, documents);
        checked_threads(threads);
        nb::gil_scoped_release release;
        return join->decide(places.data(), places.size(), known, threads);
    }

    void look_up(const Places& places, const Places& copy_of, Output<std::uint8_t> decision,
                 Output<std::int64_t> kept_for, Output<double> similarity, std::size_t threads) {
        const Decisions known = decisions_of(copy_of, decision, kept_for, similarity, documents);
        check_places(places, known, documents);
        checked_threads(threads);
        nb::gil_scoped_release release;
        join->look_up(places.data(), places.size(), known, threads);
    }

    auto pairs(const Places& places, bool search, bool insert, std::size_t most,
               std::size_t threads) {
        check_places(places, documents);
        checked_threads(threads);
        std::vector<SimilarPair> found;
        std::size_t done = 0;
        {
            nb::gil_scoped_release release;
            done =
                join->pairs(places.data(), places.size(), {search, insert, most}, threads, found);
            std::sort(found.begin(), found.end(), [](const SimilarPair& x, const SimilarPair& y) {
                return x.places < y.places;
            });
        }
        return std::tuple_cat(std::tuple(done), columns_of(found));
    }
};

void register_star_join(nb::module_& m) {
    nb::class_<HeldJoin>(m, "StarJoin")
        .def(nb::init<const HeldFeatures&, DocumentCounts&, const std::string&, double, std::size_t,
                      std::size_t>(),
             "stored"_a, "counts"_a, nb::kw_only(), "measure"_a, "threshold"_a, "features"_a,
             "memory"_a, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
        .def("decide", &HeldJoin::decide, "places"_a, "copy_of"_a, "decision"_a, "kept_for"_a,
             "similarity"_a, nb::kw_only(), "threads"_a)
        .def("look_up", &HeldJoin::look_up, "places"_a, "copy_of"_a, "decision"_a, "kept_for"_a,
             "similarity"_a, nb::kw_only(), "threads"_a)
        .def("pairs", &HeldJoin::pairs, "places"_a, nb::kw_only(), "search"_a, "insert"_a, "most"_a,
             "threads"_a)
        .def("clear", [](HeldJoin& self) { self.join->clear(); })
        .def_prop_ro("full", [](const HeldJoin& self) { return self.join->full(); })
        .def_prop_ro("compared", [](const HeldJoin& self) { return self.join->compared(); });
    m.def(
        "stars_of_pairs",
        [](const Places& places, const Places& a, const Places& b, const Input<double>& found,
           const Places& copy_of, Output<std::uint8_t> decision, Output<std::int64_t> kept_for,
           Output<double> similarity) {
            const std::size_t count = copy_of.size();
            const Decisions known = decisions_of(copy_of, decision, kept_for, similarity, count);
            check_places(places, count);
            check_places(copy_of, count);
            const PairList pairs = pairs_of(a, b, count, count);
            if (found.size() != pairs.count)
                throw std::invalid_argument("every pair needs its similarity");
            nb::gil_scoped_release release;
            stars_of_pairs(places.data(), places.size(), pairs, found.data(), known, count);
        },
        "places"_a, "a"_a, "b"_a, "pair_similarity"_a, "copy_of"_a, "decision"_a, "kept_for"_a,
        "similarity"_a);
}

auto components_of(std::size_t count, const Places& a, const Places& b) {
    if (count > kMostDocuments) throw std::invalid_argument("too many documents");
    const PairList pairs = pairs_of(a, b, count, count);
    auto smallest = std::make_unique<std::int64_t[]>(count);
    {
        nb::gil_scoped_release release;
        components(count, pairs, smallest.get());
    }
    return owned_array(smallest.release(), count);
}

// Checks what `dense_clusters` relies on: products of sizes that fit, and pairs of two nodes.
NodeSizes sizes_of(const Places& documents, std::size_t first_other) {
    if (documents.size() > kMostDocuments) throw std::invalid_argument("too many documents");
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < documents.size(); ++i) {
        const std::int64_t one = documents.data()[i];
        if (one < 0 || one > static_cast<std::int64_t>(kMostDocuments))
            throw std::invalid_argument("a number of documents is negative or too large");
        sum += static_cast<std::uint64_t>(one);
    }
    if (sum > kMostDocuments) throw std::invalid_argument("too many documents");
    return {documents.data(), first_other};
}

PairList pairs_between(const NodeSizes& sizes, std::size_t count, const Places& a,
                       const Places& b) {
    const PairList pairs = pairs_of(a, b, count, count);
    bool differ = true, filled = true;
    for (std::size_t i = 0; i < pairs.count; ++i) {
        differ &= pairs.a[i] != pairs.b[i];
        filled &= sizes.documents[pairs.a[i]] > 0 && sizes.documents[pairs.b[i]] > 0;
    }
    if (!differ) throw std::invalid_argument("a pair names one document twice");
    if (!filled) throw std::invalid_argument("a pair names a node without documents");
    return pairs;
}

auto dense_clusters_of(const Places& documents, const Places& a, const Places& b, double share,
                       std::size_t first_other, std::size_t certain, const Places& apart_a,
                       const Places& apart_b) {
    const std::size_t count = documents.size();
    const NodeSizes sizes = sizes_of(documents, first_other);
    const PairList pairs = pairs_between(sizes, count, a, b),
                   apart = pairs_between(sizes, count, apart_a, apart_b);
    if (!(share > 0 && share <= 1)) throw std::invalid_argument("a share is above 0 and at most 1");
    if (pairs.count + apart.count >= kMostDocuments)
        throw std::invalid_argument("dense clusters take fewer than 4,294,967,295 pairs");
    bool compared = true;
    for (std::size_t i = certain; i < pairs.count; ++i)
        compared &= static_cast<std::size_t>(std::min(pairs.a[i], pairs.b[i])) < first_other;
    if (!compared) throw std::invalid_argument("a pair is within the other collection");
    auto smallest = std::make_unique<std::int64_t[]>(count);
    {
        nb::gil_scoped_release release;
        dense_clusters(count, sizes, pairs, certain, apart, share, smallest.get());
    }
    return owned_array(smallest.release(), count);
}

}  // namespace

void register_set_join(nb::module_& m) {
    m.def("similarities", &similarities_of, "left"_a, "right"_a.none(), "a"_a, "b"_a, nb::kw_only(),
          "measure"_a, "threads"_a);
    m.def("join_similar", &join, "left"_a, "right"_a.none(), nb::kw_only(), "measure"_a,
          "threshold"_a, "most_postings"_a, "most_pairs"_a, "threads"_a);
    m.def("predict_similar", &predict, "left"_a, "right"_a.none(), nb::kw_only(), "measure"_a,
          "threshold"_a, "threads"_a);
    register_shared_filter(m);
    register_document_counts(m);
    register_stored_features(m);
    register_star_join(m);
    m.def("components", &components_of, "count"_a, "a"_a, "b"_a);
    m.def("dense_clusters", &dense_clusters_of, "documents"_a, "a"_a, "b"_a, "share"_a,
          nb::kw_only(), "first_other"_a, "certain"_a, "apart_a"_a, "apart_b"_a);
}

}  // namespace neardup::bind
