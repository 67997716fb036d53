#include <algorithm>
#include <cstring>

#include "neardup/parallel.hpp"
#include "neardup/similar/shared_filter.hpp"

namespace neardup {

namespace {

std::size_t feature_count(const FeatureColumn& column) {
    return static_cast<std::size_t>(column.offsets[column.count] - column.offsets[0]);
}

}  // namespace

SharedFilter::SharedFilter(const Collections& documents, std::size_t threads) {
    std::size_t features = feature_count(documents.left);
    if (documents.two) features += feature_count(documents.right);
    // Twice as many slots as features: three of five features that are alone are so in their slot.
    const int bits = std::max(10, static_cast<int>(std::bit_width(features)) + 1);
    shift_ = 64 - bits;
    const std::size_t words = (std::size_t{1} << bits) / 32;
    words_ = room_.at_least(words);
    std::memset(words_, 0, words * sizeof *words_);
    // Each thread reads everything and marks its own part of the table.
    parallel_tasks(threads, threads, [&](const auto& next) {
        for (std::size_t part = next(); part < threads; part = next()) {
            const std::uint64_t first = words * part / threads * 32,
                                last = words * (part + 1) / threads * 32;
            mark(documents.left, first, last, documents.two ? 1 : 0);
            if (documents.two) mark(documents.right, first, last, 2);
        }
    });
}

// Side 0 is that of a single collection: its first document sets one bit, any later one the other.
void SharedFilter::mark(const FeatureColumn& column, std::uint64_t first, std::uint64_t last,
                        std::uint64_t side) {
    const auto end = static_cast<std::size_t>(column.offsets[column.count]);
    for (auto i = static_cast<std::size_t>(column.offsets[0]); i < end; ++i) {
        if (i + kAhead < end) prefetch(column.hashes[i + kAhead]);
        const std::uint64_t slot = slot_of(column.hashes[i]);
        if (slot - first >= last - first) continue;
        if (column.weights != nullptr && column.weights[i] == 0) continue;
        std::uint64_t& word = words_[slot / 32];
        const std::uint64_t at = slot % 32 * 2;
        word |= (side != 0 ? side : (word >> at & 1) + 1) << at;
    }
}

}  // namespace neardup
