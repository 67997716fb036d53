#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "neardup/buffer.hpp"
#include "neardup/hash_sorter.hpp"
#include "neardup/parallel.hpp"
#include "neardup/set_join/possible.hpp"
#include "neardup/set_join/ranked.hpp"

namespace neardup {

namespace {

constexpr std::size_t kTask = 256;  // documents at a time

// Call work(i, room) for each document; each thread has its own room.
template <typename Room, typename Work>
void each_document(std::size_t count, std::size_t threads, const Work& work) {
    const std::size_t tasks = (count + kTask - 1) / kTask;
    parallel_tasks(tasks, threads, [&](const auto& next) {
        Room room;
        for (std::size_t task = next(); task < tasks; task = next())
            for (std::size_t i = task * kTask; i < std::min(count, (task + 1) * kTask); ++i)
                work(i, room);
    });
}
struct NoRoom {};

// A document that may be in a pair.
struct Chosen {
    double mass;
    std::uint32_t place, shared;  // how many of its features others may have
    bool as_lighter;

    bool operator<(const Chosen& other) const {
        return mass != other.mass ? mass < other.mass : place < other.place;
    }
};

std::size_t feature_count(const FeatureColumn& column) {
    return static_cast<std::size_t>(column.offsets[column.count] - column.offsets[0]);
}

// How many features of its column there are from the first one of a document on.
std::size_t features_from(const Collections& documents, std::size_t place) {
    const bool left = place < documents.left.count;
    const FeatureColumn& column = left ? documents.left : documents.right;
    const std::size_t own = left ? place : place - documents.left.count;
    return static_cast<std::size_t>(column.offsets[column.count] - column.offsets[own]);
}

// Those whose features that others may have are enough, by ascending mass.
std::vector<Chosen> choose(const Collections& documents, Measure measure, const Limits& limits,
                           const SharedFilter& filter, std::size_t threads) {
    std::vector<Chosen> all(documents.left.count + (documents.two ? documents.right.count : 0));
    each_document<WeightedPairs>(all.size(), threads, [&](std::size_t i, WeightedPairs& room) {
        const Possible possible = possible_of(view_of(documents, i), features_from(documents, i),
                                              measure, limits, filter, room);
        all[i] = {possible.mass, static_cast<std::uint32_t>(i), possible.shared,
                  possible.as_lighter};
    });
    std::erase_if(all, [](const Chosen& chosen) { return chosen.shared == 0; });
    std::sort(all.begin(), all.end());
    return all;
}

// The features of chosen documents that count.
//
// By containment and inclusion, the one document of a pair shares most of itself, and the other one
// any part. Of documents that can only be the other one, those features count that a document of
// the first kind has; often these are few.
class CountedFeatures {
  public:
    CountedFeatures(const Collections& documents, Measure measure, const SharedFilter& shared,
                    std::size_t features, std::vector<Chosen>& chosen, std::size_t threads)
        : documents_(documents), shared_(shared) {
        if (!is_of_one(measure)) return;
        const auto is_left = [&](const Chosen& one) { return one.place < documents.left.count; };
        if (measure == Measure::inclusion && documents.two) {
            for (Chosen& one : chosen) one.as_lighter &= is_left(one);
            std::erase_if(chosen,
                          [&](const Chosen& one) { return is_left(one) && !one.as_lighter; });
        }
        const std::size_t right = documents.two ? documents.right.count : 0;
        const auto wanted = std::make_unique<bool[]>(documents.left.count + right);
        for (const Chosen& one : chosen) wanted[one.place] = one.as_lighter;
        lighter_.emplace(features, documents.two);
        lighter_->see(documents.left, false, wanted.get(), threads);
        if (documents.two)
            lighter_->see(documents.right, true, wanted.get() + documents.left.count, threads);
        each_document<NoRoom>(chosen.size(), threads, [&](std::size_t i, NoRoom&) {
            if (chosen[i].as_lighter) return;
            chosen[i].shared = 0;
            each(chosen[i], [&](const DocumentView&, std::size_t) { ++chosen[i].shared; });
        });
        std::erase_if(chosen, [](const Chosen& one) { return one.shared == 0; });
    }

    // Call take(document, j) with the places of the features of a document that count.
    template <typename Take>
    void each(const Chosen& chosen, const Take& take) const {
        const DocumentView document = view_of(documents_, chosen.place);
        const bool any = !lighter_ || chosen.as_lighter;
        const bool by_right = documents_.two && chosen.place < documents_.left.count;
        const SharedFilter& first = any ? shared_ : *lighter_;
        for (std::size_t j = 0; j < document.size; ++j) {
            if (j + SharedFilter::kAhead < document.size)
                first.prefetch(document.hashes[j + SharedFilter::kAhead]);
            if (document.weights != nullptr && document.weights[j] == 0) continue;
            const std::uint64_t hash = document.hashes[j];
            if (!any && !lighter_->maybe_seen(hash, by_right)) continue;
            if (shared_.maybe_shared(hash)) take(document, j);
        }
    }

  private:
    const Collections& documents_;
    const SharedFilter& shared_;
    std::optional<SharedFilter> lighter_;
};

// Puts the ranked features of a document in order.
template <typename Value>
class RankOrder {
  public:
    // Leave out those that the document has alone; return how many are left. `weights` go with them
    // if a value is a weighted one.
    std::size_t run(std::uint32_t* features, double* weights, std::size_t count,
                    const std::vector<std::uint32_t>& spread) {
        Value* const values = values_.reserve(count);
        std::size_t size = 0;
        for (std::size_t j = 0; j < count; ++j) {
            if (features[j] == kAlone) continue;
            const std::uint64_t key = std::uint64_t{spread[features[j]]} << 32 | features[j];
            if constexpr (kWeighted)
                values[size++] = {key, weights[j]};
            else
                values[size++] = key;
        }
        sorter_.run(values, size);
        for (std::size_t j = 0; j < size; ++j) {
            features[j] = static_cast<std::uint32_t>(portable::hash_of(values[j]));
            if constexpr (kWeighted) weights[j] = values[j].weight;
        }
        return size;
    }

  private:
    static constexpr bool kWeighted = std::is_same_v<Value, portable::WeightedHash>;

    portable::Buffer<Value> values_;
    portable::HashSorter<Value> sorter_;
};

// Of a value that is not negative.
float rounded_up(double value) {
    const auto near = static_cast<float>(value);
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(near) + (near < value));
}

}  // namespace

RankedDocuments rank_documents(const Collections& documents, Measure measure, const Limits& limits,
                               std::size_t threads) {
    const bool weighted = documents.left.weights != nullptr;
    std::size_t features_seen = feature_count(documents.left);
    if (documents.two) features_seen += feature_count(documents.right);
    SharedFilter filter(features_seen, documents.two);
    filter.see(documents.left, false, nullptr, threads);
    if (documents.two) filter.see(documents.right, true, nullptr, threads);
    std::vector<Chosen> chosen = choose(documents, measure, limits, filter, threads);
    const CountedFeatures counted(documents, measure, filter, features_seen, chosen, threads);

    RankedDocuments ranked;
    std::size_t total = 0;
    for (const Chosen& one : chosen) {
        ranked.places.push_back(one.place);
        ranked.masses.push_back(one.mass);
        ranked.starts.push_back(std::exchange(total, total + one.shared));
    }
    if (total >= kAlone) throw std::invalid_argument("too many features for one join");
    ranked.ends.resize(chosen.size());

    Room<std::uint64_t> hash_room;
    std::uint64_t* hashes = hash_room.at_least(total + 1);
    std::uint32_t* features = ranked.features.at_least(total + 1);
    double* weights = weighted ? ranked.weights.at_least(total + 1) : nullptr;
    float* rests = weighted ? ranked.rests.at_least(total + 1) : nullptr;
    ranked.of_length_1 = weighted && measure == Measure::cosine;
    each_document<NoRoom>(chosen.size(), threads, [&](std::size_t i, NoRoom&) {
        std::size_t at = ranked.starts[i];
        counted.each(chosen[i], [&](const DocumentView& document, std::size_t j) {
            if (weighted) weights[at] = document.weights[j];
            hashes[at++] = document.hashes[j];
        });
    });
    const std::vector<std::uint32_t> spread = rank_features(hashes, total, threads, features);
    ranked.feature_count = spread.size();

    const auto end_of = [&](std::size_t i, std::size_t size, double mass) {
        ranked.ends[i] = ranked.starts[i] + (mass >= limits.probe(ranked.whole(i)) ? size : 0);
    };
    if (!weighted) {
        using Order = RankOrder<std::uint64_t>;
        each_document<Order>(chosen.size(), threads, [&](std::size_t i, Order& order) {
            const std::size_t size =
                order.run(features + ranked.starts[i], nullptr, chosen[i].shared, spread);
            end_of(i, size, static_cast<double>(size));
        });
        return ranked;
    }
    using Order = RankOrder<portable::WeightedHash>;
    each_document<Order>(chosen.size(), threads, [&](std::size_t i, Order& order) {
        double* const own_weights = weights + ranked.starts[i];
        float* const own_rests = rests + ranked.starts[i];
        const std::size_t size =
            order.run(features + ranked.starts[i], own_weights, chosen[i].shared, spread);
        const double unit = ranked.of_length_1 ? std::sqrt(chosen[i].mass) : 1;
        double mass = 0;
        for (std::size_t j = size; j-- != 0;) {
            own_weights[j] /= unit;
            own_rests[j] = rounded_up(ranked.of_length_1 ? std::sqrt(mass) : mass);
            mass += limits.mass(own_weights[j]);
        }
        end_of(i, size, mass);
    });
    return ranked;
}

RankedDocuments in_order_of_prefixes(RankedDocuments documents, const Limits& limits) {
    struct Prefix {
        std::uint32_t last, place;
        std::size_t document;

        bool operator<(const Prefix& other) const {
            return last != other.last ? last < other.last : place < other.place;
        }
    };
    std::vector<Prefix> order;
    for (std::size_t i = 0; i < documents.count(); ++i) {
        const double least = limits.index(documents.whole(i));
        const std::size_t needed = needed_of<true>(documents, i, limits, least);
        if (needed != 0) order.push_back({documents.begin(i)[needed - 1], documents.places[i], i});
    }
    std::sort(order.begin(), order.end());
    const auto reorder = [&](auto& values) {
        std::remove_reference_t<decltype(values)> moved;
        for (const Prefix& prefix : order) moved.push_back(values[prefix.document]);
        values.swap(moved);
    };
    reorder(documents.places);
    reorder(documents.masses);
    reorder(documents.starts);
    reorder(documents.ends);
    return documents;
}

}  // namespace neardup
