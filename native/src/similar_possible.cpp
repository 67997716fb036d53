#include "neardup/similar/possible.hpp"

#include <algorithm>

#include "neardup/parallel.hpp"

namespace neardup {

Possible possible_of(const DocumentView& document, std::size_t within, Measure measure,
                     const Limits& limits, const SharedFilter& filter, WeightedPairs& room) {
    Possible found{0, 0};
    double shared = 0;
    if (document.weights == nullptr) {
        constexpr std::size_t kSteps = 8;
        found.mass = static_cast<double>(document.size);
        const double needed = limits.probe(found.mass);
        for (std::size_t j = 0; j < document.size;) {
            const std::size_t stop = std::min(j + kSteps, document.size);
            for (; j < stop; ++j) {
                if (j + SharedFilter::kAhead < within)
                    filter.prefetch(document.hashes[j + SharedFilter::kAhead]);
                found.shared += filter.maybe_shared(document.hashes[j]);
            }
            // Of most documents, the first features tell.
            if (static_cast<double>(found.shared + document.size - j) < needed)
                return {found.mass, 0};
        }
        shared = found.shared;
    } else {
        for (std::size_t j = 0; j < document.size; ++j) {
            const double mass = limits.mass(document.weights[j]);
            found.mass += mass;
            if (mass == 0 || !filter.maybe_shared(document.hashes[j])) continue;
            shared += mass;
            ++found.shared;
        }
        if (measure == Measure::cosine) found.mass = room.square(document);
    }
    if (shared < limits.probe(found.mass)) found.shared = 0;
    return found;
}

void keep_possible(const FeatureColumn& column, Measure measure, double threshold,
                   const SharedFilter& filter, std::size_t threads, bool* wanted) {
    constexpr std::size_t kTask = 256;  // documents at a time
    const Limits limits(measure, column.weights != nullptr, threshold);
    const std::size_t tasks = (column.count + kTask - 1) / kTask;
    parallel_tasks(tasks, threads, [&](const auto& next) {
        WeightedPairs room;
        for (std::size_t task = next(); task < tasks; task = next()) {
            const std::size_t last = std::min(column.count, (task + 1) * kTask);
            for (std::size_t i = task * kTask; i < last; ++i) {
                if (!wanted[i]) continue;
                const auto within =
                    static_cast<std::size_t>(column.offsets[column.count] - column.offsets[i]);
                wanted[i] =
                    possible_of({column, i}, within, measure, limits, filter, room).shared != 0;
            }
        }
    });
}

}  // namespace neardup
