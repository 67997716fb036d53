#include "neardup/set_join/document_counts.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>
#include <vector>

#include "neardup/parallel.hpp"

namespace neardup {

namespace {

constexpr unsigned kExact = 7, kLargest = DocumentCounts::kCounts - 1;
constexpr int kLeastBits = 10;
// Features that threads divide among each other, and those that one of them sorts at a time.
constexpr std::size_t kAtOnce = std::size_t{1} << 21, kChunk = std::size_t{1} << 14;

// Call visit(i) for each of the features [first, last) that counts.
template <typename Visit>
void each_feature(const FeatureColumn& column, const bool* wanted, std::size_t first,
                  std::size_t last, const Visit& visit) {
    const std::int64_t *offsets = column.offsets, *end_of_offsets = offsets + column.count + 1;
    const auto* after = std::upper_bound(offsets, end_of_offsets, static_cast<std::int64_t>(first));
    for (auto document = static_cast<std::size_t>(after - offsets) - 1; first < last; ++document) {
        const std::size_t end = std::min(last, static_cast<std::size_t>(offsets[document + 1]));
        if (wanted == nullptr || wanted[document])
            for (std::size_t i = first; i < end; ++i)
                if (column.weights == nullptr || column.weights[i] != 0) visit(i);
        first = end;
    }
}

}  // namespace

DocumentCounts::DocumentCounts(std::size_t features, std::size_t most_bytes) {
    // Two to four slots for each feature: of those that are alone, most have a slot of their own.
    const int wanted = static_cast<int>(std::bit_width(features));
    const int most = static_cast<int>(std::bit_width(most_bytes)) - 1;
    const int bits = std::max(std::min(wanted, most), kLeastBits);
    shift_ = 64 - (bits + 1);
    const std::size_t bytes = std::size_t{1} << bits;
    table_ = room_.at_least(bytes);
    std::memset(table_, 0, bytes);
}

// From kExact on, a count goes up with a chance that falls to a half or a quarter at each step.
inline void DocumentCounts::count(std::uint64_t hash) {
    const std::uint64_t slot = mixed(hash) >> shift_;
    std::uint8_t& two = table_[slot / 2];
    const unsigned at = slot % 2 * 4, known = two >> at & kLargest;
    if (known >= kExact) {
        if (known == kLargest) return;
        const std::uint64_t draw = ++draws_[part_of(hash)];
        const std::uint64_t random = (hash ^ draw * 0xBF58476D1CE4E5B9ULL) * 0x94D049BB133111EBULL;
        const unsigned bits = (known - kExact + 1) * 3 / 2;
        if ((random >> 20 & ((std::uint64_t{1} << bits) - 1)) != 0) return;
    }
    two = static_cast<std::uint8_t>(two + (1U << at));
}

void DocumentCounts::see(const FeatureColumn& column, const bool* wanted, std::size_t threads) {
    auto first = static_cast<std::size_t>(column.offsets[0]);
    const auto end = static_cast<std::size_t>(column.offsets[column.count]);
    if (threads > 1) {
        for (; first < end; first += kAtOnce)
            see_by_parts(column, wanted, first, std::min(first + kAtOnce, end), threads);
        return;
    }
    each_feature(column, wanted, first, end, [&](std::size_t i) {
        if (i + kAhead < end) prefetch(column.hashes[i + kAhead]);
        count(column.hashes[i]);
    });
}

// Each chunk of features is sorted by part; then each part is counted by one thread, chunk after
// chunk, so in the order in which one thread counts them.
void DocumentCounts::see_by_parts(const FeatureColumn& column, const bool* wanted,
                                  std::size_t first, std::size_t last, std::size_t threads) {
    const std::size_t chunks = (last - first + kChunk - 1) / kChunk;
    std::vector<Starts> starts_of(chunks);
    std::uint64_t* const sorted = sorted_.at_least(last - first);
    parallel_tasks(chunks, threads, [&](const auto& next) {
        for (std::size_t chunk = next(); chunk < chunks; chunk = next()) {
            const std::size_t begin = first + chunk * kChunk, end = std::min(begin + kChunk, last);
            Starts& starts = starts_of[chunk];
            std::array<std::uint32_t, kParts> at{};
            each_feature(column, wanted, begin, end,
                         [&](std::size_t i) { ++at[part_of(column.hashes[i])]; });
            auto sum = static_cast<std::uint32_t>(chunk * kChunk);
            for (std::size_t part = 0; part < kParts; ++part) {
                starts[part] = sum;
                sum += std::exchange(at[part], sum);
            }
            starts[kParts] = sum;
            each_feature(column, wanted, begin, end, [&](std::size_t i) {
                sorted[at[part_of(column.hashes[i])]++] = column.hashes[i];
            });
        }
    });
    parallel_tasks(kParts, threads, [&](const auto& next) {
        for (std::size_t part = next(); part < kParts; part = next())
            for (const Starts& starts : starts_of) {
                const std::size_t begin = starts[part], end = starts[part + 1];
                for (std::size_t i = begin; i < std::min(begin + kAhead, end); ++i)
                    prefetch(sorted[i]);
                for (std::size_t i = begin; i < end; ++i) {
                    if (i + kAhead < end) prefetch(sorted[i + kAhead]);
                    count(sorted[i]);
                }
            }
    });
}

}  // namespace neardup
