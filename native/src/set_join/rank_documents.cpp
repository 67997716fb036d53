#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "neardup/parallel.hpp"
#include "neardup/set_join/possible.hpp"
#include "neardup/set_join/ranked.hpp"

namespace neardup {

namespace {

constexpr std::size_t kTask = 256;  // documents at a time

template <typename Work>
void each_document(std::size_t count, std::size_t threads, const Work& work) {
    const std::size_t tasks = (count + kTask - 1) / kTask;
    parallel_tasks(tasks, threads, [&](const auto& next) {
        auto work_here = work;  // with room of its own
        for (std::size_t task = next(); task < tasks; task = next())
            for (std::size_t i = task * kTask; i < std::min(count, (task + 1) * kTask); ++i)
                work_here(i);
    });
}

// A document that may be in a pair.
struct Chosen {
    double mass;
    std::uint32_t place, shared;  // how many of its features others may have

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
    each_document(all.size(), threads, [&, room = WeightedPairs()](std::size_t i) mutable {
        const Possible possible = possible_of(view_of(documents, i), features_from(documents, i),
                                              measure, limits, filter, room);
        all[i] = {possible.mass, static_cast<std::uint32_t>(i), possible.shared};
    });
    std::erase_if(all, [](const Chosen& chosen) { return chosen.shared == 0; });
    std::sort(all.begin(), all.end());
    return all;
}

// Put the features of a document in order and leave out those that it has alone.
template <typename Item, typename Rank>
std::size_t order_items(Item* items, std::size_t count, const Rank& rank) {
    Item* const end = std::remove_if(items, items + count,
                                     [&](const Item& item) { return rank(item) == kAlone; });
    std::sort(items, end, [&](const Item& x, const Item& y) { return rank(x) < rank(y); });
    return static_cast<std::size_t>(end - items);
}

float rounded_up(double value) {
    const auto near = static_cast<float>(value);
    return near >= value ? near : std::nextafterf(near, std::numeric_limits<float>::infinity());
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
    const std::vector<Chosen> chosen = choose(documents, measure, limits, filter, threads);

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
    each_document(chosen.size(), threads, [&](std::size_t i) {
        const DocumentView document = view_of(documents, chosen[i].place);
        std::size_t at = ranked.starts[i];
        for (std::size_t j = 0; j < document.size; ++j) {
            if (weighted && limits.mass(document.weights[j]) == 0) continue;
            if (!filter.maybe_shared(document.hashes[j])) continue;
            if (weighted) weights[at] = document.weights[j];
            hashes[at++] = document.hashes[j];
        }
    });
    ranked.feature_count = rank_features(hashes, total, threads, features);

    using Weighted = std::pair<std::uint32_t, double>;
    std::vector<Weighted> no_items;
    each_document(chosen.size(), threads, [&, room = no_items](std::size_t i) mutable {
        std::uint32_t* own = features + ranked.starts[i];
        const std::size_t shared = chosen[i].shared;
        double mass = 0;
        std::size_t size = 0;
        if (weighted) {
            double* own_weights = weights + ranked.starts[i];
            float* own_rests = rests + ranked.starts[i];
            const double unit = ranked.of_length_1 ? std::sqrt(chosen[i].mass) : 1;
            room.clear();
            for (std::size_t j = 0; j < shared; ++j) room.emplace_back(own[j], own_weights[j]);
            const auto rank = [](const Weighted& item) { return item.first; };
            size = order_items(room.data(), shared, rank);
            for (std::size_t j = size; j-- != 0;) {
                own[j] = room[j].first;
                own_weights[j] = room[j].second / unit;
                own_rests[j] = rounded_up(ranked.of_length_1 ? std::sqrt(mass) : mass);
                mass += limits.mass(own_weights[j]);
            }
        } else {
            size = order_items(own, shared, [](std::uint32_t item) { return item; });
            mass = static_cast<double>(size);
        }
        const bool enough = mass >= limits.probe(ranked.whole(i));
        ranked.ends[i] = ranked.starts[i] + (enough ? size : 0);
    });
    return ranked;
}

}  // namespace neardup
