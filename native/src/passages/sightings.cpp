#include "neardup/passages/sightings.hpp"

#include <algorithm>

namespace neardup {

namespace {

constexpr std::size_t kAhead = 16;  // hides the latency of memory

}  // namespace

Sightings::Sightings(std::uint64_t bits)
    : bits_(bits), pairs_(static_cast<std::size_t>(bits / 32)) {}

// nd1 makes features below a prime, whose upper bits are not evenly spread.
std::uint64_t Sightings::place(std::uint64_t hash) const {
    return (hash * 0x9E3779B97F4A7C15) >> 32 & (bits_ - 1);
}

void Sightings::see(const std::uint64_t* hashes, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        if (i + kAhead < count) __builtin_prefetch(&pairs_[place(hashes[i + kAhead]) / 32], 1);
        const std::uint64_t at = place(hashes[i]);
        std::uint64_t& pair = pairs_[at / 32];
        const unsigned shift = 2 * (at % 32);
        const std::uint64_t again = pair >> shift & 1;
        pair |= (std::uint64_t{1} | again << 1) << shift;
    }
}

void Sightings::count(const std::int64_t* offsets, std::size_t passages,
                      const std::uint64_t* hashes, std::uint32_t* counts) const {
    const auto end = static_cast<std::size_t>(offsets[passages]);
    for (std::size_t i = 0; i < passages; ++i) {
        std::uint32_t found = 0;
        for (auto at = static_cast<std::size_t>(offsets[i]);
             at < static_cast<std::size_t>(offsets[i + 1]); ++at) {
            if (at + kAhead < end) __builtin_prefetch(&pairs_[place(hashes[at + kAhead]) / 32]);
            const std::uint64_t cell = place(hashes[at]);
            found += pairs_[cell / 32] >> (2 * (cell % 32) + 1) & 1;
        }
        counts[i] = found;
    }
}

}  // namespace neardup
