#include "neardup/similar/shared_filter.hpp"

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
    // Each thread reads everything and marks its own part of the table.
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

}  // namespace neardup
