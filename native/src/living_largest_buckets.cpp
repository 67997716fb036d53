#include <algorithm>
#include <shared_mutex>

#include "neardup/living/memory_tables.hpp"

namespace neardup {

std::vector<std::size_t> MemoryTables::largest_buckets(std::size_t count) const {
    const std::shared_lock hold(lock_);
    require_whole();
    // Rows of a bucket need not agree on the mask, so a bucket is an upper bound.
    struct Bound {
        BucketTable::Bucket bucket;
        std::size_t mask;
    };
    std::vector<Bound> bounds;
    for (std::size_t mask = 0; mask < tables_.size(); ++mask)
        for (const BucketTable::Bucket& bucket : tables_[mask].buckets())
            if (bucket.size != 0) bounds.push_back({bucket, mask});
    std::sort(bounds.begin(), bounds.end(),
              [](const Bound& x, const Bound& y) { return x.bucket.size > y.bucket.size; });
    std::vector<std::size_t> largest;  // ascending
    for (const Bound& bound : bounds) {
        if (largest.size() == count && (count == 0 || bound.bucket.size <= largest.front())) break;
        for (const std::size_t size : agreeing_sets(bound.bucket, masks_[bound.mask])) {
            largest.insert(std::lower_bound(largest.begin(), largest.end(), size), size);
            if (largest.size() > count) largest.erase(largest.begin());
        }
    }
    std::reverse(largest.begin(), largest.end());
    return largest;
}

std::vector<std::size_t> MemoryTables::agreeing_sets(const BucketTable::Bucket& bucket,
                                                     const MaskKey& mask) const {
    std::vector<std::uint64_t> keys;
    std::uint32_t chunk = bucket.chunk;
    for (std::uint32_t left = bucket.size; left != 0; chunk = chunks_.at(chunk).next) {
        const std::uint32_t used = BucketTable::in_first(left);
        for (std::uint32_t i = 0; i < used; ++i)
            keys.push_back(mask.key(groups_.row(chunks_.at(chunk).groups[i])));
        left -= used;
    }
    std::sort(keys.begin(), keys.end());
    std::vector<std::size_t> sizes;
    for (std::size_t i = 0; i < keys.size(); ++i) {
        if (i == 0 || keys[i] != keys[i - 1]) sizes.push_back(0);
        ++sizes.back();
    }
    return sizes;
}

}  // namespace neardup
