#include "neardup/text/feature_counts.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace neardup {

namespace {

constexpr std::size_t kLeastSlots = 1024;
constexpr std::size_t kAhead = 16;  // slots fetched before they are looked at
constexpr std::uint32_t kMostCount = std::numeric_limits<std::uint32_t>::max();

bool is_full(std::size_t used, std::size_t slots) { return 4 * (used + 1) > 3 * slots; }

}  // namespace

// The slot that holds a hash, or the free one where it belongs. There is always a free one.
std::size_t FeatureCounts::slot_of(std::uint64_t hash) const {
    const std::size_t mask = hashes_.size() - 1;
    std::size_t at = home_of(hash);
    while (counts_[at] != 0 && hashes_[at] != hash) at = (at + 1) & mask;
    return at;
}

void FeatureCounts::add(const std::uint64_t* hashes, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        if (is_full(used_, hashes_.size())) make_room();
        if (i + kAhead < count) {
            const std::size_t ahead = home_of(hashes[i + kAhead]);
            __builtin_prefetch(&hashes_[ahead], 1);
            __builtin_prefetch(&counts_[ahead], 1);
        }
        const std::size_t at = slot_of(hashes[i]);
        hashes_[at] = hashes[i];
        used_ += counts_[at] == 0;
        counts_[at] += counts_[at] != kMostCount;
    }
}

void FeatureCounts::set(std::uint64_t hash, std::uint32_t count) {
    if (count == 0) return;
    if (is_full(used_, hashes_.size())) rebuild(std::max(kLeastSlots, 2 * hashes_.size()));
    const std::size_t at = slot_of(hash);
    used_ += counts_[at] == 0;
    hashes_[at] = hash;
    counts_[at] = count;
}

void FeatureCounts::look_up(const std::uint64_t* hashes, std::size_t count,
                            std::uint32_t* out) const {
    if (used_ == 0) {
        std::fill(out, out + count, 0);
        return;
    }
    for (std::size_t i = 0; i < count; ++i) {
        if (i + kAhead < count) {
            const std::size_t ahead = home_of(hashes[i + kAhead]);
            __builtin_prefetch(&hashes_[ahead]);
            __builtin_prefetch(&counts_[ahead]);
        }
        out[i] = counts_[slot_of(hashes[i])];
    }
}

FeatureCounts::Items FeatureCounts::items(std::uint32_t least) const {
    std::vector<std::size_t> found;
    for (std::size_t at = 0; at < hashes_.size(); ++at)
        if (counts_[at] != 0 && counts_[at] >= least) found.push_back(at);
    std::sort(found.begin(), found.end(),
              [&](std::size_t a, std::size_t b) { return hashes_[a] < hashes_[b]; });
    Items items;
    for (const std::size_t at : found) {
        items.hashes.push_back(hashes_[at]);
        items.counts.push_back(counts_[at]);
    }
    return items;
}

void FeatureCounts::make_room() {
    if (used_ < limit_) return rebuild(std::max(kLeastSlots, 2 * hashes_.size()));
    while (2 * used_ > limit_ && floor_ != kMostCount) {
        ++floor_;
        for (std::uint32_t& count : counts_) {
            if (count == 0 || count > floor_) continue;
            count = 0;
            --used_;
        }
    }
    rebuild(hashes_.size());
}

// Move the remaining entries into a new table: emptied slots would end a search too early.
void FeatureCounts::rebuild(std::size_t slots) {
    const std::vector<std::uint64_t> hashes =
        std::exchange(hashes_, std::vector<std::uint64_t>(slots));
    const std::vector<std::uint32_t> counts =
        std::exchange(counts_, std::vector<std::uint32_t>(slots));
    for (std::size_t i = 0; i < hashes.size(); ++i) {
        if (counts[i] == 0) continue;
        const std::size_t at = slot_of(hashes[i]);
        hashes_[at] = hashes[i];
        counts_[at] = counts[i];
    }
}

}  // namespace neardup
