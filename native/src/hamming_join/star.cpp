#include "neardup/hamming_join/star.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "neardup/index_tables/search.hpp"
#include "neardup/parallel.hpp"

namespace neardup {

namespace {

constexpr std::size_t kTask = 128;
constexpr std::size_t kAhead = 16;

// Looking into the buckets of a mask takes about as long as comparing so many rows.
constexpr std::size_t kRowsPerMask = 128;

// Following a chain to a row takes about as long as comparing so many rows.
constexpr std::size_t kRowsPerChained = 16;

constexpr unsigned kChainBits = 14;

}  // namespace

bool Nearness::agree(const std::uint64_t* x, const std::uint64_t* y) const {
    return masks.empty() || std::any_of(masks.begin(), masks.end(),
                                        [&](const MaskKey& mask) { return mask.agree(x, y); });
}

void Nearness::compare(const std::uint64_t* row, const KeptRows& kept, const Tile& tile,
                       std::size_t first, std::size_t last, NearestKept& nearest) const {
    struct Context {
        const Nearness& nearness;
        const KeptRows& kept;
        const std::uint64_t* row;
        NearestKept& nearest;
    } context{*this, kept, row, nearest};
    const OnPair on_pair{[](void* held, std::size_t, std::size_t j, std::uint32_t bits) {
                             const auto& [nearness, all, x, best] = *static_cast<Context*>(held);
                             if (bits < best.distance && nearness.agree(x, all.row(j)))
                                 best = {static_cast<std::uint32_t>(j), bits};
                         },
                         &context};
    kernels.compare_tile(row, 0, tile, first, last, nearest.distance - 1, on_pair);
}

FreshRows::FreshRows(const Nearness& nearness, const KeptRows& kept)
    : nearness_(nearness),
      kept_(kept),
      chained_masks_(nearness.masks.size() * kRowsPerMask < kMost ? nearness.masks.size() : 0),
      chains_(chained_masks_ << kChainBits),
      next_(chained_masks_ * kMost) {
    tile_.at_least(kMost * kept.limbs);
}

void FreshRows::clear() {
    if (count_ != 0) std::fill(chains_.begin(), chains_.end(), Chain{});
    first_ = kept_.count();
    count_ = 0;
}

std::size_t FreshRows::slot(std::size_t mask, const std::uint64_t* row) const {
    return (mask << kChainBits) + bucket_of(nearness_.masks[mask].key(row), kChainBits);
}

void FreshRows::add() {
    const std::uint64_t* row = kept_.row(first_ + count_);
    for (std::size_t limb = 0; limb < kept_.limbs; ++limb)
        tile_.data()[limb * kMost + count_] = row[limb];
    for (std::size_t mask = 0; mask < chained_masks_; ++mask) {
        Chain& chain = chains_[slot(mask, row)];
        next_[mask * kMost + count_] = chain.first;
        chain.first = static_cast<std::uint16_t>(count_);
        ++chain.size;
    }
    ++count_;
}

void FreshRows::find_nearest(const std::uint64_t* row, NearestKept& nearest) const {
    if (nearest.distance == 0) return;
    if (chained_masks_ != 0 && count_ > chained_masks_ * kRowsPerMask) {
        std::size_t chained = 0;
        for (std::size_t mask = 0; mask < chained_masks_; ++mask)
            chained += chains_[slot(mask, row)].size;
        if (chained * kRowsPerChained < count_) return follow_chains(row, nearest);
    }
    const Tile tile{tile_.data(), kMost, kept_.limbs, first_};
    nearness_.compare(row, kept_, tile, first_, first_ + count_, nearest);
}

void FreshRows::follow_chains(const std::uint64_t* row, NearestKept& nearest) const {
    NearestKept best{kNoGroup, nearest.distance};
    for (std::size_t mask = 0; mask < chained_masks_; ++mask) {
        const Chain& chain = chains_[slot(mask, row)];
        std::uint16_t at = chain.first;
        for (std::size_t left = chain.size; left != 0; --left, at = next_[mask * kMost + at]) {
            const auto kept = static_cast<std::uint32_t>(first_ + at);
            const std::uint64_t* other = kept_.row(kept);
            const std::uint32_t bits = nearness_.table_kernels.distance(row, other, kept_.limbs);
            // A chain has the last row first.
            if ((bits < best.distance || (bits == best.distance && kept < best.kept)) &&
                bits < nearest.distance && nearness_.masks[mask].agree(row, other))
                best = {kept, bits};
        }
    }
    if (best.kept != kNoGroup) nearest = best;
}

// The tables as a query reads them; the cursor is at a chunk.
class StarSearch::Source {
  public:
    explicit Source(const StarSearch& stars) : stars_(stars) {}

    void prefetch_bucket(std::size_t mask, std::uint64_t key) const {
        stars_.tables_[mask].buckets.prefetch(key);
    }
    // Also fetches the first chunk.
    std::size_t bucket_size(std::size_t mask, std::uint64_t key) const {
        const BucketTable::Bucket bucket = stars_.tables_[mask].buckets.bucket(key);
        if (bucket.size != 0) {
            const Chunk& chunk = stars_.tables_[mask].chunks.at(bucket.chunk);
            __builtin_prefetch(chunk.tags);
            __builtin_prefetch(chunk.tags + 16);
        }
        return bucket.size;
    }
    bool open(Cursor& cursor, std::uint64_t key) const {
        const BucketTable::Bucket bucket = stars_.tables_[cursor.mask].buckets.bucket(key);
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

    void prefetch_row(std::uint32_t kept) const { __builtin_prefetch(row(kept)); }
    const std::uint64_t* row(std::uint32_t kept) const { return stars_.kept_.row(kept); }
    template <typename Take>
    void each_member(std::uint32_t kept, std::size_t, const Take& take) const {
        take(std::uint64_t{kept});
    }

  private:
    const Chunk& chunk_at(const Cursor& cursor) const {
        return stars_.tables_[cursor.mask].chunks.at(static_cast<std::uint32_t>(cursor.at));
    }
    void prefetch(const Cursor& cursor) const {
        const Chunk& chunk = chunk_at(cursor);
        __builtin_prefetch(chunk.tags);
        __builtin_prefetch(chunk.tags + 16);
    }

    const StarSearch& stars_;
};

// Finds the nearest of the rows kept before a block; one for each thread.
class StarSearch::Finder {
  public:
    explicit Finder(const StarSearch& stars)
        : stars_(stars), nearness_(stars.nearness_), kept_(stars.kept_), source_(stars) {}

    void find(const std::uint64_t* rows, std::size_t count, NearestKept* nearest) {
        rows_ = rows;
        nearest_ = nearest;
        find_equal(count);
        if (nearness_.distance == 0) return;
        choose();
        search_tables();
        scan();
    }

  private:
    const std::uint64_t* row(std::size_t i) const { return rows_ + i * kept_.limbs; }

    void find_equal(std::size_t count) {
        std::uint64_t hashes[kTask];
        unequal_.clear();
        for (std::size_t i = 0; i < count + kAhead; ++i) {
            if (i < count) {
                hashes[i] = stars_.index_.hash(row(i), kept_.limbs);
                stars_.index_.prefetch(hashes[i]);
            }
            if (i < kAhead) continue;
            const std::size_t at = i - kAhead;
            const std::uint32_t equal = stars_.find_equal(row(at), hashes[at]);
            if (equal == kNoGroup)
                unequal_.push_back(static_cast<std::uint32_t>(at));
            else
                nearest_[at] = {equal, 0};
        }
    }

    // Looking at a row in a bucket takes about as long as comparing so many rows: beyond a small
    // distance, tags no longer tell rows apart.
    std::size_t rows_per_bucket_row() const { return nearness_.distance <= 8 ? 1 : 16; }

    // Rows whose buckets are large are compared with all rows instead.
    void choose() {
        searched_.clear();
        scanned_.clear();
        if (stars_.in_tables_ == 0) {
            scanned_.swap(unequal_);
            return;
        }
        const std::size_t masks = nearness_.masks.size();
        keys_.resize(unequal_.size() * masks);
        for (std::size_t i = 0; i < unequal_.size() + kAhead; ++i) {
            if (i < unequal_.size())
                for (std::size_t mask = 0; mask < masks; ++mask) {
                    const std::uint64_t key = nearness_.masks[mask].key(row(unequal_[i]));
                    source_.prefetch_bucket(mask, keys_[i * masks + mask] = key);
                }
            if (i < kAhead) continue;
            const std::size_t at = i - kAhead;
            std::size_t in_buckets = 0;
            for (std::size_t mask = 0; mask < masks; ++mask)
                in_buckets += source_.bucket_size(mask, keys_[at * masks + mask]);
            const bool many = in_buckets * rows_per_bucket_row() > kept_.count();
            (many ? scanned_ : searched_).push_back(unequal_[at]);
        }
    }

    void search_tables() {
        if (searched_.empty()) return;
        gathered_.clear();
        for (const std::uint32_t i : searched_)
            gathered_.insert(gathered_.end(), row(i), row(i) + kept_.limbs);
        const Query query{gathered_.data(), searched_.size(), kept_.limbs, nearness_.distance, 1};
        FoundMatches found;
        Searcher<Source>(source_, nearness_.masks, query, nearness_.table_kernels, found)
            .search(0, query.count);
        std::size_t at = 0;
        for (std::size_t i = 0; i < query.count; ++i) {
            if (found.counts[i] == 0) continue;
            nearest_[searched_[i]] = {static_cast<std::uint32_t>(found.numbers[at]),
                                      found.distances[at]};
            ++at;
        }
    }

    void scan() {
        if (scanned_.empty()) return;
        for (std::size_t start = 0; start < kept_.count(); start += kTileRows) {
            const std::size_t end = std::min(start + kTileRows, kept_.count());
            const Tile tile = turned(start, end);
            for (const std::uint32_t i : scanned_)
                nearness_.compare(row(i), kept_, tile, start, end, nearest_[i]);
        }
    }

    Tile turned(std::size_t start, std::size_t end) {
        const std::size_t limbs = kept_.limbs;
        if (limbs == 1) return {kept_.row(start), 0, 1, start};
        std::uint64_t* room = room_.at_least(kTileRows * limbs);
        for (std::size_t i = start; i < end; ++i)
            for (std::size_t limb = 0; limb < limbs; ++limb)
                room[limb * kTileRows + i - start] = kept_.row(i)[limb];
        return {room, kTileRows, limbs, start};
    }

    const StarSearch& stars_;
    const Nearness& nearness_;
    const KeptRows& kept_;
    const Source source_;
    const std::uint64_t* rows_ = nullptr;
    NearestKept* nearest_ = nullptr;
    std::vector<std::uint32_t> unequal_, searched_, scanned_;
    std::vector<std::uint64_t> keys_, gathered_;
    Room<std::uint64_t> room_;
};

StarSearch::StarSearch(const Masks& masks, std::size_t limbs, std::size_t bits,
                       std::uint32_t distance, const HammingKernels& kernels,
                       const TableKernels& table_kernels)
    : nearness_{distance, mask_keys(masks.rows, masks.count, limbs, bits), kernels, table_kernels},
      kept_{limbs, {}, {}},
      fresh_(nearness_, kept_),
      tables_(masks.count) {}

void StarSearch::require_room(std::size_t coming) const {
    if (coming >= kNoGroup - kept_.count())
        throw std::invalid_argument("too many rows for one search");
}

void StarSearch::keep(const std::uint64_t* rows, std::size_t count, std::int64_t document,
                      std::size_t threads) {
    const std::lock_guard hold(lock_);
    require_room(count);
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t* row = rows + i * kept_.limbs;
        const std::uint64_t hash = index_.hash(row, kept_.limbs);
        if (find_equal(row, hash) != kNoGroup) continue;
        kept_.add(row, document + static_cast<std::int64_t>(i));
        index_row(kept_.count() - 1, hash);
    }
    fill_tables(threads);
}

void StarSearch::visit(const std::uint64_t* rows, const std::int64_t* documents, std::size_t count,
                       bool keeps, std::size_t threads, std::int64_t* kept_for,
                       std::uint16_t* distances) {
    const std::lock_guard hold(lock_);
    require_room(count);
    for (std::size_t first = 0; first < count; first += FreshRows::kMost) {
        const std::size_t size = std::min(FreshRows::kMost, count - first);
        visit_block(rows + first * kept_.limbs, documents + first, size, keeps, threads);
        for (std::size_t i = 0; i < size; ++i) {
            const auto [kept, distance] = nearest_[i];
            const bool none = kept == kNoGroup;
            kept_for[first + i] = none ? documents[first + i] : kept_.documents[kept];
            distances[first + i] = none ? 0 : static_cast<std::uint16_t>(distance);
        }
    }
}

void StarSearch::visit_block(const std::uint64_t* rows, const std::int64_t* documents,
                             std::size_t count, bool keeps, std::size_t threads) {
    nearest_.assign(count, {kNoGroup, nearness_.distance + 1});
    const std::size_t tasks = (count + kTask - 1) / kTask;
    parallel_tasks(tasks, threads, [&](const auto& next) {
        Finder finder(*this);
        for (std::size_t task = next(); task < tasks; task = next()) {
            const std::size_t first = task * kTask;
            finder.find(rows + first * kept_.limbs, std::min(kTask, count - first),
                        nearest_.data() + first);
        }
    });
    if (!keeps) return;
    fresh_.clear();
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t* row = rows + i * kept_.limbs;
        fresh_.find_nearest(row, nearest_[i]);
        if (nearest_[i].kept != kNoGroup) continue;
        kept_.add(row, documents[i]);
        fresh_.add();
    }
    index_rows();
    fill_tables(threads);
}

std::uint32_t StarSearch::find_equal(const std::uint64_t* row, std::uint64_t hash) const {
    return index_.find(hash, [&](std::uint32_t kept) {
        return std::equal(row, row + kept_.limbs, kept_.row(kept));
    });
}

void StarSearch::index_row(std::size_t kept, std::uint64_t hash) {
    if (index_.full()) {
        index_.clear_for(kept);
        for (std::size_t i = 0; i < kept; ++i)
            index_.insert(index_.hash(kept_.row(i), kept_.limbs), static_cast<std::uint32_t>(i));
    }
    index_.insert(hash, static_cast<std::uint32_t>(kept));
    indexed_ = kept + 1;
}

void StarSearch::index_rows() {
    std::uint64_t hashes[kAhead];
    const std::size_t first = indexed_, count = kept_.count();
    for (std::size_t i = first; i < count + kAhead; ++i) {
        if (i >= first + kAhead) index_row(i - kAhead, hashes[i % kAhead]);
        if (i >= count) continue;
        hashes[i % kAhead] = index_.hash(kept_.row(i), kept_.limbs);
        index_.prefetch(hashes[i % kAhead]);
    }
}

void StarSearch::fill_table(std::size_t mask) {
    const MaskKey& key_of = nearness_.masks[mask];
    auto& [buckets, chunks] = tables_[mask];
    std::size_t first = in_tables_;
    if (buckets.crowded(kept_.count(), key_of.size())) {
        buckets.clear_for(kept_.count(), key_of.size(), chunks);
        first = 0;
    }
    std::uint64_t keys[kAhead];
    for (; first < kept_.count(); first += kAhead) {
        const std::size_t count = std::min(kAhead, kept_.count() - first);
        for (std::size_t i = 0; i < count; ++i) {
            keys[i] = key_of.key(kept_.row(first + i));
            buckets.prefetch(keys[i]);
        }
        for (std::size_t i = 0; i < count; ++i) buckets.prefetch_end(keys[i], chunks);
        for (std::size_t i = 0; i < count; ++i)
            buckets.add(keys[i], key_of.tag(kept_.row(first + i), keys[i]),
                        static_cast<std::uint32_t>(first + i), chunks);
    }
}

void StarSearch::fill_tables(std::size_t threads) {
    const std::size_t masks = nearness_.masks.size();
    if (masks == 0 || kept_.count() <= kRowsPerMask * masks) return;
    const bool few = kept_.count() - in_tables_ < kTask;
    parallel_tasks(masks, few ? 1 : threads, [&](const auto& next) {
        for (std::size_t mask = next(); mask < masks; mask = next()) fill_table(mask);
    });
    in_tables_ = kept_.count();
}

}  // namespace neardup
