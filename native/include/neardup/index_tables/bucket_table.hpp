// The table of one mask: groups in buckets by their key, with a tag each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "neardup/index_tables/blocks.hpp"
#include "neardup/index_tables/kernels.hpp"
#include "neardup/index_tables/mask_key.hpp"

namespace neardup {

// A part of a bucket. The newest chunk comes first and may be partly filled; the others are full.
struct alignas(256) Chunk {
    static constexpr std::uint32_t kSize = 31;

    std::uint32_t tags[kSize];  // compared all at once, used or not
    std::uint32_t next;         // and this too
    std::uint32_t groups[kSize];
};
static_assert(Chunk::kSize + 1 == kTagsAtOnce);

// The chunks of all tables, reused when a bucket shrinks.
class Chunks {
  public:
    Chunk& at(std::uint32_t i) { return *chunks_.at(i); }
    const Chunk& at(std::uint32_t i) const { return *chunks_.at(i); }

    std::uint32_t take();
    void give_back(std::uint32_t chunk);
    std::size_t bytes() const { return chunks_.bytes(); }

  private:
    static constexpr std::uint32_t kNone = 0xFFFFFFFF;

    Blocks<Chunk> chunks_;
    std::uint32_t made_ = 0, free_ = kNone;
};

class BucketTable {
  public:
    struct Bucket {
        std::uint32_t chunk = 0, size = 0;
    };

    BucketTable() : buckets_(1) {}

    // Whether `groups` of a mask of so many bits should be spread over more buckets.
    bool crowded(std::size_t groups, unsigned mask_bits) const {
        return depth_ < mask_bits && groups >> depth_ > kMostInBucket;
    }
    // Clear the table and make enough buckets for `groups`; all groups must be added again.
    void clear_for(std::size_t groups, unsigned mask_bits, Chunks& chunks);

    void prefetch(std::uint64_t key) const {
        __builtin_prefetch(&buckets_[bucket_of(key, depth_)]);
    }
    // Fetch where the next group of a bucket will be written.
    void prefetch_end(std::uint64_t key, const Chunks& chunks) const {
        const Bucket& bucket = buckets_[bucket_of(key, depth_)];
        const std::uint32_t at = bucket.size % Chunk::kSize;
        if (at == 0) return;
        const Chunk& chunk = chunks.at(bucket.chunk);
        __builtin_prefetch(&chunk.tags[at], 1);
        __builtin_prefetch(&chunk.groups[at], 1);
    }
    Bucket bucket(std::uint64_t key) const { return buckets_[bucket_of(key, depth_)]; }

    void add(std::uint64_t key, std::uint32_t tag, std::uint32_t group, Chunks& chunks);
    // The group must be there.
    void remove(std::uint64_t key, std::uint32_t group, Chunks& chunks);

    // How many of the first chunk of a bucket are used.
    static std::uint32_t in_first(std::uint32_t size) { return (size - 1) % Chunk::kSize + 1; }

    const std::vector<Bucket>& buckets() const { return buckets_; }
    std::size_t bytes() const { return buckets_.capacity() * sizeof(Bucket); }

  private:
    // Half a chunk is empty in each bucket on average, so there should be more than one.
    static constexpr std::size_t kMostInBucket = 48;

    std::vector<Bucket> buckets_;
    unsigned depth_ = 0;
};

}  // namespace neardup
