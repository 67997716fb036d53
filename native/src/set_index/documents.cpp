#include "neardup/set_index/documents.hpp"

#include <algorithm>
#include <bit>

#include "neardup/parallel.hpp"
#include "neardup/set_index/sketch.hpp"

namespace neardup {

namespace {

constexpr std::size_t kTask = 256;

}  // namespace

int index_parity_log(std::size_t features) {
    const std::size_t bits =
        std::clamp<std::size_t>(std::bit_floor(features | 1) * 2, 64, std::size_t{1} << 14);
    return std::countr_zero(bits / 64);
}

void set_parity(const std::uint32_t* features, std::size_t count, ParityBitmap& bitmap) {
    bitmap.set(features, count, index_parity_log(count));
}

double mass_of(const SetPlan& plan, const DocumentView& document, WeightedPairs& pairs) {
    return exact_mass(plan.measure, document, pairs);
}

SetDocuments::SetDocuments(const SetPlan& plan, const FeatureColumn& documents, std::size_t threads)
    : plan_(plan), offsets_(documents.count + 1) {
    const std::size_t count = documents.count;
    const auto begin = documents.offsets[0];
    for (std::size_t i = 0; i <= count; ++i)
        offsets_[i] = static_cast<std::size_t>(documents.offsets[i] - begin);
    const std::size_t total = offsets_[count];
    const std::uint64_t* hashes = documents.hashes + begin;
    if (plan.weighted) {
        hashes_.assign(hashes, hashes + total);
        weights_.assign(documents.weights + begin, documents.weights + begin + total);
        masses_.resize(count);
    } else {
        features_.resize(total);
        parities_.resize(count);
        bands_.resize(count * plan.bands);
    }
    parallel_tasks((count + kTask - 1) / kTask, threads, [&](const auto& next) {
        BandSketcher sketcher(plan.bands, plan.minima);
        WeightedPairs pairs;
        const std::size_t tasks = (count + kTask - 1) / kTask;
        for (std::size_t task = next(); task < tasks; task = next())
            for (std::size_t i = task * kTask; i < std::min(count, (task + 1) * kTask); ++i) {
                const std::size_t size = features_in(i), at = offsets_[i];
                if (plan.weighted) {
                    masses_[i] =
                        mass_of(plan, {hashes_.data() + at, weights_.data() + at, size}, pairs);
                    continue;
                }
                std::transform(hashes + at, hashes + at + size, features_.data() + at,
                               short_feature);
                set_parity(features_.data() + at, size, parities_[i]);
                sketcher.run(features_.data() + at, size, bands_.data() + i * plan.bands);
            }
    });
}

IndexedSet SetDocuments::at(std::size_t place) const {
    const std::size_t begin = offsets_[place], size = features_in(place);
    if (plan_.weighted)
        return {nullptr,        {hashes_.data() + begin, weights_.data() + begin, size},
                size,           masses_[place],
                masses_[place], nullptr,
                nullptr};
    return {features_.data() + begin,
            {nullptr, nullptr, 0},
            size,
            static_cast<double>(size),
            0,
            &parities_[place],
            bands_.data() + place * plan_.bands};
}

void SetDocuments::store(std::size_t place, std::uint8_t* to) const {
    const IndexedSet set = at(place);
    if (plan_.weighted)
        store_weighted_set(set.weighted, to);
    else
        store_set(set.features, set.size, to);
}

}  // namespace neardup
