// Hashes in the order of their buckets, which are their first 16 bits, and answers brought back.
//
// Tasks of a distributed run ask others about features by bucket: what goes out is sorted by
// bucket, and the answers come back in that order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace neardup {

constexpr int kBucketBits = 16;
constexpr std::size_t kBuckets = std::size_t{1} << kBucketBits;

// How many hashes are in each bucket.
using BucketSizes = std::array<std::uint32_t, kBuckets>;

BucketSizes bucket_sizes(const std::uint64_t* hashes, std::size_t count);

// Write the `width` (1 to 6) bytes after the bucket of each hash, the lowest byte first, to
// `values`; those of the first bucket come first, and those of one bucket in their order.
void to_buckets(const std::uint64_t* hashes, std::size_t count, const BucketSizes& sizes, int width,
                std::uint8_t* values);

// Write the answer about each hash to `back`; `answers` are in the order of `to_buckets`.
void from_buckets(const std::uint64_t* hashes, std::size_t count, const BucketSizes& sizes,
                  const std::uint8_t* answers, std::uint8_t* back);

}  // namespace neardup
