#include "neardup/set_join/buckets.hpp"

#include <vector>

namespace neardup {

namespace {

std::size_t bucket_of(std::uint64_t hash) { return hash >> (64 - kBucketBits); }

// Where the next hash of each bucket goes.
std::vector<std::size_t> first_places(const BucketSizes& sizes) {
    std::vector<std::size_t> places(kBuckets);
    std::size_t before = 0;
    for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) {
        places[bucket] = before;
        before += sizes[bucket];
    }
    return places;
}

}  // namespace

BucketSizes bucket_sizes(const std::uint64_t* hashes, std::size_t count) {
    BucketSizes sizes = {};
    for (std::size_t i = 0; i < count; ++i) ++sizes[bucket_of(hashes[i])];
    return sizes;
}

void to_buckets(const std::uint64_t* hashes, std::size_t count, const BucketSizes& sizes, int width,
                std::uint8_t* values) {
    std::vector<std::size_t> places = first_places(sizes);
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t value = hashes[i] << kBucketBits >> (64 - 8 * width);
        std::uint8_t* const to =
            values + places[bucket_of(hashes[i])]++ * static_cast<std::size_t>(width);
        for (int byte = 0; byte < width; ++byte)
            to[byte] = static_cast<std::uint8_t>(value >> (8 * byte));
    }
}

void from_buckets(const std::uint64_t* hashes, std::size_t count, const BucketSizes& sizes,
                  const std::uint8_t* answers, std::uint8_t* back) {
    std::vector<std::size_t> places = first_places(sizes);
    for (std::size_t i = 0; i < count; ++i) back[i] = answers[places[bucket_of(hashes[i])]++];
}

}  // namespace neardup
