#include "neardup/set_join/document_counts.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "neardup/parallel.hpp"

namespace neardup {

namespace {

constexpr unsigned kExact = 7, kLargest = DocumentCounts::kCounts - 1;
// A slot has 32 bits, and a byte of the table two slots.
constexpr int kLeastBits = 10, kMostBits = 31;
// Slots are collected until there are eight to a line of the table: then counting takes half as
// long as with four. And so many are sorted at a time.
constexpr std::size_t kBytesEach = 8, kChunk = std::size_t{1} << 16;

}  // namespace

DocumentCounts::DocumentCounts(std::size_t features, std::size_t most_bytes) {
    // Two to four slots for each feature: of those that are alone, most have a slot of their own.
    const int wanted = static_cast<int>(std::bit_width(features));
    const int most = std::min(static_cast<int>(std::bit_width(most_bytes)) - 1, kMostBits);
    const int bits = std::max(std::min(wanted, most), kLeastBits);
    shift_ = 64 - (bits + 1);
    parts_ = std::size_t{1} << std::max(0, bits - kPartBits);
    draws_.resize(parts_);
    const std::size_t bytes = std::size_t{1} << bits;
    at_once_ = std::max(bytes / kBytesEach, kChunk);
    table_ = room_.at_least(bytes);
    std::memset(table_, 0, bytes);
}

// From kExact on, a count goes up with a chance that falls to a half or a quarter at each step.
inline void DocumentCounts::count(std::uint32_t slot) {
    std::uint8_t& two = table_[slot / 2];
    const unsigned at = slot % 2 * 4, known = two >> at & kLargest;
    if (known >= kExact) {
        if (known == kLargest) return;
        const std::uint64_t draw = ++draws_[part_of(slot)];
        const std::uint64_t random = (slot ^ draw * 0xBF58476D1CE4E5B9ULL) * 0x94D049BB133111EBULL;
        const unsigned bits = (known - kExact + 1) * 3 / 2;
        if ((random >> 20 & ((std::uint64_t{1} << bits) - 1)) != 0) return;
    }
    two = static_cast<std::uint8_t>(two + (1U << at));
}

// Write the slots of the features [first, last) that count; how many.
std::size_t DocumentCounts::collect(const FeatureColumn& column, std::size_t first,
                                    std::size_t last, std::uint32_t* to) const {
    const std::uint64_t* const hashes = column.hashes;
    if (column.weights == nullptr) {
        for (std::size_t i = first; i < last; ++i)
            to[i - first] = static_cast<std::uint32_t>(slot_of(hashes[i]));
        return last - first;
    }
    std::uint32_t* end = to;
    for (std::size_t i = first; i < last; ++i) {
        *end = static_cast<std::uint32_t>(slot_of(hashes[i]));
        end += column.weights[i] != 0;
    }
    return static_cast<std::size_t>(end - to);
}

void DocumentCounts::see(const FeatureColumn& column, const bool* wanted, std::size_t threads) {
    if (waiting_ == nullptr) waiting_ = waiting_room_.at_least(at_once_);
    for (std::size_t document = 0; document < column.count; ++document) {
        if (wanted != nullptr && !wanted[document]) continue;
        auto at = static_cast<std::size_t>(column.offsets[document]);
        const auto end = static_cast<std::size_t>(column.offsets[document + 1]);
        while (at < end) {
            const std::size_t stop = std::min(end, at + at_once_ - waiting_count_);
            waiting_count_ += collect(column, at, stop, waiting_ + waiting_count_);
            at = stop;
            if (waiting_count_ == at_once_) count_waiting(threads);
        }
    }
}

void DocumentCounts::finish(std::size_t threads) {
    count_waiting(threads);
    waiting_room_.clear();
    sorted_room_.clear();
    waiting_ = sorted_ = nullptr;
}

// Each chunk of slots is sorted by part; then each part is counted by one thread, chunk after
// chunk, so in the order in which the slots were seen.
void DocumentCounts::count_waiting(std::size_t threads) {
    if (parts_ == 1) {
        for (std::size_t i = 0; i < waiting_count_; ++i) count(waiting_[i]);
        waiting_count_ = 0;
        return;
    }
    const std::size_t chunks = (waiting_count_ + kChunk - 1) / kChunk;
    if (chunks == 0) return;
    sorted_ = sorted_room_.at_least(waiting_count_);
    starts_.resize(chunks * (parts_ + 1));
    parallel_tasks(chunks, threads, [&](const auto& next) {
        for (std::size_t chunk = next(); chunk < chunks; chunk = next()) sort_chunk(chunk);
    });
    parallel_tasks(parts_, threads, [&](const auto& next) {
        for (std::size_t part = next(); part < parts_; part = next())
            for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
                const std::uint32_t* const starts = starts_.data() + chunk * (parts_ + 1);
                const std::size_t end = starts[part + 1];
                for (std::size_t i = starts[part]; i < end; ++i) {
                    if (i + kAhead < end) __builtin_prefetch(table_ + sorted_[i + kAhead] / 2);
                    count(sorted_[i]);
                }
            }
    });
    waiting_count_ = 0;
}

void DocumentCounts::sort_chunk(std::size_t chunk) {
    const std::size_t first = chunk * kChunk, last = std::min(first + kChunk, waiting_count_);
    std::uint32_t* const starts = starts_.data() + chunk * (parts_ + 1);
    std::fill_n(starts, parts_ + 1, 0);
    for (std::size_t i = first; i < last; ++i) ++starts[part_of(waiting_[i])];
    auto end = static_cast<std::uint32_t>(first);
    for (std::size_t part = 0; part < parts_; ++part) starts[part] = end += starts[part];
    starts[parts_] = end;
    // From the last slot back, so that each start goes down to where its part begins.
    for (std::size_t i = last; i-- > first;) sorted_[--starts[part_of(waiting_[i])]] = waiting_[i];
}

}  // namespace neardup
