#include "neardup/set_join/possible.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "neardup/parallel.hpp"

namespace neardup {

SharedFilter::SharedFilter(std::size_t features, bool two) : two_(two) {
    // Twice as many slots as features: three of five features that are alone are so in their slot.
    const int bits = std::max(10, static_cast<int>(std::bit_width(features)) + 1);
    shift_ = 64 - bits;
    word_count_ = (std::size_t{1} << bits) / 32;
    words_ = room_.at_least(word_count_);
    std::memset(words_, 0, word_count_ * sizeof *words_);
}

void SharedFilter::see(const FeatureColumn& column, bool right, const bool* wanted,
                       std::size_t threads) {
    const std::uint64_t side = !two_ ? 0 : right ? 2 : 1;
    // Each thread reads all features and marks its own part of the table.
    parallel_tasks(threads, threads, [&](const auto& next) {
        for (std::size_t part = next(); part < threads; part = next())
            mark(column, wanted, word_count_ * part / threads * 32,
                 word_count_ * (part + 1) / threads * 32, side);
    });
}

// Side 0 is that of a single collection: its first document sets one bit, any later one the other.
void SharedFilter::mark(const FeatureColumn& column, const bool* wanted, std::uint64_t first,
                        std::uint64_t last, std::uint64_t side) {
    const auto end = static_cast<std::size_t>(column.offsets[column.count]);
    for (std::size_t document = 0; document < column.count; ++document) {
        if (wanted != nullptr && !wanted[document]) continue;
        const auto own_end = static_cast<std::size_t>(column.offsets[document + 1]);
        for (auto i = static_cast<std::size_t>(column.offsets[document]); i < own_end; ++i) {
            if (i + kAhead < end) prefetch(column.hashes[i + kAhead]);
            const std::uint64_t slot = slot_of(column.hashes[i]);
            if (slot - first >= last - first) continue;
            if (column.weights != nullptr && column.weights[i] == 0) continue;
            std::uint64_t& word = words_[slot / 32];
            const std::uint64_t at = slot % 32 * 2;
            word |= (side != 0 ? side : (word >> at & 1) + 1) << at;
        }
    }
}

Possible possible_of(const DocumentView& document, std::size_t within, Measure measure,
                     const Limits& limits, const SharedFilter& filter, WeightedPairs& room) {
    Possible found{0, 0, false};
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
                return {found.mass, 0, false};
        }
        shared = found.shared;
    } else {
        for (std::size_t j = 0; j < document.size; ++j) {
            if (j + SharedFilter::kAhead < within)
                filter.prefetch(document.hashes[j + SharedFilter::kAhead]);
            const double mass = limits.mass(document.weights[j]);
            found.mass += mass;
            if (mass == 0 || !filter.maybe_shared(document.hashes[j])) continue;
            shared += mass;
            ++found.shared;
        }
        if (measure == Measure::cosine || is_of_one(measure))
            found.mass = exact_mass(measure, document, room);
    }
    found.as_lighter = shared >= limits.index(found.mass);
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
