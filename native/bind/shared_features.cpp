#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "documents.hpp"
#include "neardup/set_join/alike.hpp"
#include "neardup/set_join/buckets.hpp"
#include "neardup/set_join/first_features.hpp"
#include "neardup/set_join/frequencies.hpp"

namespace neardup::bind {

using nb::literals::operator""_a;

namespace {

// What one task asks: the sizes of buckets, and the features in their order.
using Asked = std::tuple<Input<std::uint32_t>, InputRows<std::uint8_t>>;

// The frequencies of the features that each task asks about.
auto answer_frequencies_of(const std::vector<Asked>& tasks) {
    using Answer = decltype(owned_array(std::declval<std::uint8_t*>(), std::size_t{}));
    std::vector<AskedFeatures> asked;
    std::vector<std::unique_ptr<std::uint8_t[]>> answers;
    std::size_t buckets = 0, width = 1, all = 0;
    for (const auto& [sizes, values] : tasks) {
        if (asked.empty()) buckets = sizes.size(), width = values.shape(1);
        std::uint64_t count = 0;
        for (std::size_t i = 0; i < sizes.size(); ++i) count += sizes.data()[i];
        if (sizes.size() != buckets || values.shape(1) != width || count != values.shape(0))
            throw std::invalid_argument("all tasks need the same buckets, and sizes of these");
        all += count;
        answers.push_back(std::make_unique<std::uint8_t[]>(count));
        asked.push_back({sizes.data(), values.data(), answers.back().get()});
    }
    if (width < 1 || width > 6) throw std::invalid_argument("a feature has 1 to 6 bytes");
    if (all > kMostDocuments) throw std::invalid_argument("too many features");
    {
        nb::gil_scoped_release release;
        answer_frequencies(asked, buckets, static_cast<int>(width));
    }
    std::vector<Answer> found;
    for (std::size_t i = 0; i < tasks.size(); ++i)
        found.push_back(owned_array(answers[i].release(), std::get<1>(tasks[i]).shape(0)));
    return found;
}

// The sizes of buckets, and the bytes of each hash after its bucket in the order of buckets.
auto to_buckets_of(const Input<std::uint64_t>& hashes, int width) {
    if (hashes.size() > kMostDocuments) throw std::invalid_argument("too many hashes");
    if (width < 1 || width > 6) throw std::invalid_argument("a hash has 1 to 6 bytes to tell");
    const auto bytes = static_cast<std::size_t>(width);
    auto values = std::make_unique<std::uint8_t[]>(hashes.size() * bytes);
    auto sizes = std::make_unique<BucketSizes>();
    {
        nb::gil_scoped_release release;
        *sizes = bucket_sizes(hashes.data(), hashes.size());
        to_buckets(hashes.data(), hashes.size(), *sizes, width, values.get());
    }
    return std::make_tuple(array_of(std::vector<std::uint32_t>(sizes->begin(), sizes->end())),
                           owned_array(values.release(), hashes.size(), bytes));
}

auto from_buckets_of(const Input<std::uint64_t>& hashes, const Input<std::uint8_t>& answers) {
    if (answers.size() != hashes.size()) throw std::invalid_argument("every hash needs its answer");
    if (hashes.size() > kMostDocuments) throw std::invalid_argument("too many hashes");
    auto back = std::make_unique<std::uint8_t[]>(hashes.size());
    {
        nb::gil_scoped_release release;
        const auto sizes =
            std::make_unique<BucketSizes>(bucket_sizes(hashes.data(), hashes.size()));
        from_buckets(hashes.data(), hashes.size(), *sizes, answers.data(), back.get());
    }
    return owned_array(back.release(), hashes.size());
}

auto first_features_of(const Documents& documents, const Input<std::uint8_t>& frequency,
                       double share, bool squared) {
    const FeatureColumn column = column_of(documents);
    if (frequency.size() != std::get<1>(documents).size())
        throw std::invalid_argument("every feature needs its frequency");
    FirstFeatures found;
    {
        nb::gil_scoped_release release;
        found = first_features({column.offsets, column.count, frequency.data(), column.weights},
                               share, squared);
    }
    return std::make_tuple(array_of(std::move(found.positions)),
                           array_of(std::move(found.documents)));
}

// Linked documents, the first document of the component of each, a posting of each; the links.
auto link_alike_of(const Input<std::uint64_t>& values, const Input<double>& sizes,
                   const Places& documents, double ratio) {
    if (sizes.size() != values.size() || documents.size() != values.size())
        throw std::invalid_argument("every value needs its document and size");
    if (values.size() > kMostDocuments) throw std::invalid_argument("too many postings");
    LinkedDocuments found;
    {
        nb::gil_scoped_release release;
        found = link_alike({values.data(), sizes.data(), documents.data(), values.size()}, ratio);
    }
    return std::make_tuple(array_of(std::move(found.documents)), array_of(std::move(found.firsts)),
                           array_of(std::move(found.postings)), found.links);
}

}  // namespace

void register_shared_features(nb::module_& m) {
    m.def("answer_frequencies", &answer_frequencies_of, "tasks"_a);
    m.def("link_alike", &link_alike_of, "values"_a, "sizes"_a, "documents"_a, "ratio"_a);
    m.def("to_buckets", &to_buckets_of, "hashes"_a, "width"_a);
    m.def("from_buckets", &from_buckets_of, "hashes"_a, "answers"_a);
    m.def("first_features", &first_features_of, "documents"_a, "frequency"_a, nb::kw_only(),
          "share"_a, "squared"_a);
}

}  // namespace neardup::bind
