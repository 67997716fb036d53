#include "neardup/set_join/document_counts.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "neardup/parallel.hpp"

namespace neardup {

namespace {

constexpr std::uint8_t kExact = 16, kLargest = 255;
constexpr unsigned kStepsToDouble = 8;

// From kExact on, a count goes up with a chance that halves with each doubling.
void count_one(std::uint8_t& count, std::uint64_t random) {
    if (count < kExact) {
        ++count;
        return;
    }
    const unsigned bits = (count - kExact) / kStepsToDouble + 1;
    if (count < kLargest && (random >> 20 & ((std::uint64_t{1} << bits) - 1)) == 0) ++count;
}

}  // namespace

DocumentCounts::DocumentCounts(std::size_t features, std::size_t most_bytes) {
    const int wanted = std::max(10, static_cast<int>(std::bit_width(features)));
    const int most = std::max(10, static_cast<int>(std::bit_width(most_bytes)) - 1);
    const int bits = std::min(wanted, most);
    shift_ = 64 - bits;
    size_ = std::size_t{1} << bits;
    table_ = room_.at_least(size_);
    std::memset(table_, 0, size_);
}

void DocumentCounts::see(const FeatureColumn& column, const bool* wanted, std::size_t threads) {
    // Each thread reads all features and counts those of its own part of the table.
    parallel_tasks(threads, threads, [&](const auto& next) {
        for (std::size_t part = next(); part < threads; part = next())
            count(column, wanted, size_ * part / threads, size_ * (part + 1) / threads);
    });
}

void DocumentCounts::count(const FeatureColumn& column, const bool* wanted, std::uint64_t first,
                           std::uint64_t last) {
    const auto end = static_cast<std::size_t>(column.offsets[column.count]);
    for (std::size_t document = 0; document < column.count; ++document) {
        if (wanted != nullptr && !wanted[document]) continue;
        const auto own_end = static_cast<std::size_t>(column.offsets[document + 1]);
        for (auto i = static_cast<std::size_t>(column.offsets[document]); i < own_end; ++i) {
            if (i + kAhead < end) prefetch(column.hashes[i + kAhead]);
            const std::uint64_t slot = slot_of(column.hashes[i]);
            if (slot - first >= last - first) continue;
            if (column.weights != nullptr && column.weights[i] == 0) continue;
            const std::uint64_t random =
                (column.hashes[i] ^ document * 0xBF58476D1CE4E5B9ULL) * 0x94D049BB133111EBULL;
            count_one(table_[slot], random);
        }
    }
}

}  // namespace neardup
