#include <stdexcept>

#include "neardup/index_tables/bucket_table.hpp"

namespace neardup {

std::uint32_t Chunks::take() {
    if (free_ != kNone) {
        const std::uint32_t chunk = free_;
        free_ = chunks_.at(chunk)->next;
        return chunk;
    }
    if (made_ == kNone) throw std::length_error("too many fingerprints for these tables");
    chunks_.reserve(made_ + std::size_t{1});
    return made_++;
}

void Chunks::give_back(std::uint32_t chunk) {
    chunks_.at(chunk)->next = free_;
    free_ = chunk;
}

void BucketTable::clear_for(std::size_t groups, unsigned mask_bits, Chunks& chunks) {
    for (const Bucket& bucket : buckets_) {
        std::uint32_t chunk = bucket.chunk;
        for (std::uint32_t left = bucket.size; left != 0;) {
            left -= in_first(left);
            const std::uint32_t next = chunks.at(chunk).next;
            chunks.give_back(chunk);
            chunk = next;
        }
    }
    while (depth_ < mask_bits && groups >> depth_ > kMostInBucket) ++depth_;
    buckets_.assign(std::size_t{1} << depth_, Bucket{});
}

void BucketTable::add(std::uint64_t key, std::uint32_t tag, std::uint32_t group, Chunks& chunks) {
    Bucket& bucket = buckets_[bucket_of(key, depth_)];
    const std::uint32_t at = bucket.size % Chunk::kSize;
    if (at == 0) {
        const std::uint32_t chunk = chunks.take();
        chunks.at(chunk).next = bucket.chunk;
        bucket.chunk = chunk;
    }
    Chunk& chunk = chunks.at(bucket.chunk);
    chunk.tags[at] = tag;
    chunk.groups[at] = group;
    ++bucket.size;
}

void BucketTable::remove(std::uint64_t key, std::uint32_t group, Chunks& chunks) {
    Bucket& bucket = buckets_[bucket_of(key, depth_)];
    Chunk& first = chunks.at(bucket.chunk);
    const std::uint32_t end = in_first(bucket.size);
    // The last one takes its place.
    Chunk* chunk = &first;
    for (std::uint32_t used = end;; used = Chunk::kSize) {
        std::uint32_t at = 0;
        while (at < used && chunk->groups[at] != group) ++at;
        if (at < used) {
            chunk->tags[at] = first.tags[end - 1];
            chunk->groups[at] = first.groups[end - 1];
            break;
        }
        chunk = &chunks.at(chunk->next);
    }
    --bucket.size;
    if (end == 1) {
        const std::uint32_t next = first.next;
        chunks.give_back(bucket.chunk);
        bucket.chunk = next;
    }
}

}  // namespace neardup
