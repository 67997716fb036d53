#include "neardup/index_tables/memory_tables.hpp"

#include <algorithm>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>

namespace neardup {

namespace {

constexpr std::size_t kBatch = 1024;
constexpr std::size_t kMostDocuments = 0x7FFFFFFF;

// Add groups to a table, some together, so that the buckets they go to are fetched at once.
void add_groups(const Groups& groups, const MaskKey& mask, const std::vector<std::uint32_t>& added,
                BucketTable& table, Chunks& chunks) {
    constexpr std::size_t kTogether = 32;
    std::uint64_t keys[kTogether];
    for (std::size_t first = 0; first < added.size(); first += kTogether) {
        const std::size_t count = std::min(kTogether, added.size() - first);
        for (std::size_t i = 0; i < count; ++i) {
            keys[i] = mask.key(groups.row(added[first + i]));
            table.prefetch(keys[i]);
        }
        for (std::size_t i = 0; i < count; ++i) table.prefetch_end(keys[i], chunks);
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint32_t group = added[first + i];
            table.add(keys[i], mask.tag(groups.row(group), keys[i]), group, chunks);
        }
    }
}

}  // namespace

// The tables as a query reads them; the cursor is at a chunk.
class MemoryTables::Source {
  public:
    explicit Source(const MemoryTables& tables) : tables_(tables) {}

    void prefetch_bucket(std::size_t mask, std::uint64_t key) const {
        tables_.tables_[mask].prefetch(key);
    }
    bool open(Cursor& cursor, std::uint64_t key) const {
        const BucketTable::Bucket bucket = tables_.tables_[cursor.mask].bucket(key);
        cursor.at = bucket.chunk;
        cursor.left = bucket.size;
        if (bucket.size == 0) return false;
        prefetch(cursor);
        return true;
    }
    template <typename Near, typename Take>
    void each_near(const Cursor& cursor, const Near& near, const Take& take) const {
        const Chunk& chunk = chunk_at(cursor);
        const std::uint32_t used = ~(~0U << BucketTable::in_first(cursor.left));
        for (std::uint32_t bits = used & near(chunk.tags); bits != 0; bits &= bits - 1)
            take(chunk.groups[std::countr_zero(bits)]);
    }
    bool next(Cursor& cursor) const {
        cursor.left -= BucketTable::in_first(cursor.left);
        if (cursor.left == 0) return false;
        cursor.at = chunk_at(cursor).next;
        prefetch(cursor);
        return true;
    }

    void prefetch_row(std::uint32_t group) const { tables_.groups_.prefetch_row(group); }
    const std::uint64_t* row(std::uint32_t group) const { return tables_.groups_.row(group); }
    template <typename Take>
    void each_member(std::uint32_t group, std::size_t most, const Take& take) const {
        tables_.groups_.each_member(group, most, take);
    }

  private:
    const Chunk& chunk_at(const Cursor& cursor) const {
        return tables_.chunks_.at(static_cast<std::uint32_t>(cursor.at));
    }
    void prefetch(const Cursor& cursor) const {
        const Chunk& chunk = chunk_at(cursor);
        __builtin_prefetch(chunk.tags);
        __builtin_prefetch(chunk.tags + 16);
    }

    const MemoryTables& tables_;
};

MemoryTables::MemoryTables(const std::uint64_t* masks, std::size_t count, std::size_t limbs,
                           std::size_t bits, const TableKernels& kernels)
    : limbs_(limbs),
      bits_(bits),
      masks_(mask_keys(masks, count, limbs, bits)),
      kernels_(kernels),
      groups_(limbs),
      tables_(count) {}

// A refusal (std::invalid_argument) has changed nothing; any other failure may have.
template <typename Work>
void MemoryTables::change(const Work& work) {
    const std::unique_lock hold(lock_);
    require_whole();
    broken_ = true;
    try {
        work();
    } catch (const std::invalid_argument&) {
        broken_ = false;
        throw;
    }
    broken_ = false;
}

void MemoryTables::add(const std::uint64_t* numbers, const std::uint64_t* rows, std::size_t count,
                       std::uint32_t* places) {
    change([&] {
        if (count > kMostDocuments - numbers_.size())
            throw std::invalid_argument("too many documents for these tables");
        insert_numbers(numbers, count);
        add_rows(numbers, rows, count, places);
    });
}

void MemoryTables::remove(const std::uint64_t* numbers, const std::uint64_t* rows,
                          std::size_t count) {
    change([&] {
        for (std::size_t i = 0; i < count; ++i) {
            if (remove_row(numbers[i], rows + i * limbs_)) continue;
            put_back(numbers, rows, i);
            throw std::invalid_argument("a document to remove is not there");
        }
    });
}

void MemoryTables::rows_at(const std::uint32_t* places, std::size_t count,
                           std::uint64_t* rows) const {
    const std::shared_lock hold(lock_);
    require_whole();
    for (std::size_t i = 0; i < count; ++i) {
        if (!groups_.was_made(places[i])) throw std::invalid_argument("no row is at that place");
        std::copy_n(groups_.row(places[i]), limbs_, rows + i * limbs_);
    }
}

FoundMatches MemoryTables::query(const Query& query, std::size_t threads) const {
    const std::shared_lock hold(lock_);
    require_whole();
    return search(Source(*this), masks_, query, threads, kernels_);
}

std::size_t MemoryTables::size() const {
    const std::shared_lock hold(lock_);
    return numbers_.size();
}

std::size_t MemoryTables::distinct() const {
    const std::shared_lock hold(lock_);
    return groups_.count();
}

std::size_t MemoryTables::bytes() const {
    const std::shared_lock hold(lock_);
    std::size_t sum = numbers_.bytes() + groups_.bytes() + chunks_.bytes();
    for (const BucketTable& table : tables_) sum += table.bytes();
    return sum;
}

void MemoryTables::require_whole() const {
    if (broken_) throw std::runtime_error("memory ran out while these tables changed");
}

void MemoryTables::insert_numbers(const std::uint64_t* numbers, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        if (numbers_.insert(numbers[i])) continue;
        while (i != 0) numbers_.erase(numbers[--i]);
        throw std::invalid_argument("a number is there already");
    }
}

void MemoryTables::add_rows(const std::uint64_t* numbers, const std::uint64_t* rows,
                            std::size_t count, std::uint32_t* places) {
    for (std::size_t first = 0; first < count; first += kBatch) {
        make_room(count - first);
        add_batch(numbers + first, rows + first * limbs_, std::min(kBatch, count - first),
                  places + first);
    }
}

// In reverse order of removal, so that each group gets its old number back.
void MemoryTables::put_back(const std::uint64_t* numbers, const std::uint64_t* rows,
                            std::size_t count) {
    insert_numbers(numbers, count);
    std::uint32_t place;
    for (std::size_t i = count; i-- > 0;) add_rows(numbers + i, rows + i * limbs_, 1, &place);
}

void MemoryTables::add_batch(const std::uint64_t* numbers, const std::uint64_t* rows,
                             std::size_t count, std::uint32_t* places) {
    std::uint64_t hashes[kBatch];
    constexpr std::size_t ahead = 24;
    added_.clear();
    for (std::size_t i = 0; i < count + ahead; ++i) {
        if (i < count) {
            hashes[i] = groups_.hash(rows + i * limbs_);
            groups_.prefetch_index(hashes[i]);
        }
        if (i < ahead) continue;
        const std::size_t at = i - ahead;
        const Groups::Joined joined = groups_.join(numbers[at], rows + at * limbs_, hashes[at]);
        places[at] = joined.group;
        if (joined.is_new) added_.push_back(joined.group);
    }
    for (std::size_t mask = 0; mask < masks_.size(); ++mask)
        add_groups(groups_, masks_[mask], added_, tables_[mask], chunks_);
}

// Spread a crowded table over more buckets: for up to four times the present number of groups, if
// that many may come.
void MemoryTables::make_room(std::size_t coming) {
    const std::size_t now = groups_.count();
    const std::size_t soon = now + std::min(coming, kBatch);
    const std::size_t later = now + std::min(coming, 3 * now + kBatch);
    for (std::size_t mask = 0; mask < masks_.size(); ++mask) {
        if (!tables_[mask].crowded(soon, masks_[mask].size())) continue;
        tables_[mask].clear_for(later, masks_[mask].size(), chunks_);
        added_.clear();
        const auto flush = [&] {
            add_groups(groups_, masks_[mask], added_, tables_[mask], chunks_);
            added_.clear();
        };
        groups_.each([&](std::uint32_t group) {
            added_.push_back(group);
            if (added_.size() == kBatch) flush();
        });
        flush();
    }
}

bool MemoryTables::remove_row(std::uint64_t number, const std::uint64_t* row) {
    const std::uint32_t group = groups_.find(row, groups_.hash(row));
    if (group == kNoGroup || !groups_.leave(group, number)) return false;
    numbers_.erase(number);
    if (!groups_.is_empty(group)) return true;
    for (std::size_t mask = 0; mask < masks_.size(); ++mask)
        tables_[mask].remove(masks_[mask].key(row), group, chunks_);
    groups_.drop(group);
    return true;
}

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
