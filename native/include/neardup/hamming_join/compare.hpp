// Compares every pair of a bucket, or a row with a tile.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "neardup/hamming_join/kernels.hpp"
#include "neardup/hamming_join/near.hpp"

namespace neardup::NEARDUP_ISA {

// Smaller buckets are compared pair by pair.
inline constexpr std::size_t kFewRows = 5;

NEARDUP_INLINE std::uint32_t distance_in(const Tile& tile, const std::uint64_t* row,
                                         std::size_t at) {
    std::uint32_t sum = 0;
    for (std::size_t limb = 0; limb < tile.row_limbs; ++limb)
        sum += bit_count(row[limb] ^ tile.limbs[limb * tile.stride + at]);
    return sum;
}

// Compare a row with the rows [first, last) of a tile. Where it is padded, `kPadding` rows behind
// the last one can be read, and the last few need not be compared one by one.
template <bool Padded>
NEARDUP_INLINE void compare_tile(const std::uint64_t* row, std::size_t i, const Tile& tile,
                                 std::size_t first, std::size_t last, std::uint32_t most,
                                 const OnPair& found) {
    static_assert(kLimbs <= kPadding);
    std::size_t at = first - tile.first;
    const std::size_t end = last - tile.first;
    for (; Padded ? at < end : at + kLimbs <= end; at += kLimbs) {
        LimbSums sums;
        std::uint32_t near = ~0U;
        // Stop as soon as all eight rows are too far away.
        for (std::size_t limb = 0; limb < tile.row_limbs && near != 0; ++limb) {
            sums.add(row[limb], tile.limbs + limb * tile.stride + at);
            near = sums.within(most);
        }
        for (; near != 0; near &= near - 1) {
            const std::size_t one = at + static_cast<std::size_t>(std::countr_zero(near));
            if (one >= end) break;
            found(i, tile.first + one, distance_in(tile, row, one));
        }
    }
    for (; at < end; ++at) {
        const std::uint32_t distance = distance_in(tile, row, at);
        if (distance <= most) found(i, tile.first + at, distance);
    }
}

// The items of a bucket: i is one of [first, middle) and j one of (i, last), or of [middle, last)
// where there are two sides.
struct Span {
    std::size_t first, middle, last;
    bool two;

    std::size_t after(std::size_t i) const { return two ? middle : i + 1; }
};

inline void compare_halves(const std::uint64_t* values, const Span& span, std::uint32_t most,
                           int turn, const OnPair& found) {
    std::uint32_t halves[kTileRows + kHalves];
    for (std::size_t tile = span.after(span.first); tile < span.last; tile += kTileRows) {
        const std::size_t end = std::min(tile + kTileRows, span.last);
        for (std::size_t j = tile; j < end; ++j)
            halves[j - tile] = static_cast<std::uint32_t>(std::rotl(values[j], turn));
        std::fill_n(halves + (end - tile), kHalves, 0U);
        for (std::size_t i = span.first; i < std::min(span.middle, end); ++i) {
            const auto half = static_cast<std::uint32_t>(std::rotl(values[i], turn));
            for (std::size_t j = std::max(span.after(i), tile); j < end; j += kHalves) {
                std::uint32_t near = near_halves(half, halves + (j - tile), most);
                for (; near != 0; near &= near - 1) {
                    const std::size_t at = j + static_cast<std::size_t>(std::countr_zero(near));
                    if (at >= end) break;
                    const std::uint32_t distance = bit_count(values[i] ^ values[at]);
                    if (distance <= most) found(i, at, distance);
                }
            }
        }
    }
}

// The quarters of rows that lie together, some of them at a time.
class Quarters {
  public:
    Quarters(const std::uint64_t* values, std::size_t count, const Screen& screen)
        : values_(values), count_(count), screen_(screen) {}

    // Have those from row `first` on, at most kTileRows.
    NEARDUP_INLINE void move_to(std::size_t first) {
        first_ = first;
        last_ = std::min(first + kTileRows, count_);
        const Screen screen = screen_;
        for (std::size_t i = first; i < last_; ++i) quarters_[i - first] = screen.of(values_[i]);
        std::fill_n(quarters_ + (last_ - first), kQuarters, std::uint16_t{0});
    }

    std::size_t first() const { return first_; }
    std::size_t last() const { return last_; }
    const std::uint16_t* of(std::size_t row) const { return quarters_ + (row - first_); }

  private:
    const std::uint64_t* values_;
    std::size_t count_;
    const Screen& screen_;
    std::size_t first_ = 0, last_ = 0;
    std::uint16_t quarters_[kTileRows + kQuarters];
};

// Whether any two of at most kQuarters + 1 rows are near, by their quarters. Most buckets are so
// small and have none, and no branch depends on which.
NEARDUP_INLINE bool any_near(const std::uint16_t* quarters, std::size_t count, std::uint32_t most) {
    std::uint32_t any = 0;
    for (std::size_t i = 0, later = count - 1; later != 0; ++i, --later)
        any |= near_quarters(quarters[i], quarters + i + 1, most) &
               static_cast<std::uint32_t>((std::uint64_t{1} << later) - 1);
    return any != 0;
}

// So many rows are compared with the same others before a branch depends on the outcome.
inline constexpr std::size_t kTogether = 4;
static_assert(kTogether <= kPadding + 1);

NEARDUP_INLINE void compare_quarters(const std::uint64_t* values, const Span& span,
                                     std::uint32_t most, const Screen& screen, Quarters& quarters,
                                     const OnPair& found) {
    const std::size_t count = span.last - span.first;
    if (span.last > quarters.last()) quarters.move_to(span.first);
    if (!span.two && count <= kQuarters && !any_near(quarters.of(span.first), count, screen.most))
        return;
    for (std::size_t tile = span.after(span.first); tile < span.last; tile = quarters.last()) {
        if (tile >= quarters.last()) quarters.move_to(tile);
        const std::size_t end = std::min(quarters.last(), span.last);
        const std::size_t stop = std::min(span.middle, end);
        for (std::size_t i = span.first; i < stop; i += kTogether) {
            std::uint16_t quarter[kTogether];
            for (std::size_t k = 0; k < kTogether; ++k) quarter[k] = screen.of(values[i + k]);
            for (std::size_t j = std::max(span.after(i), tile); j < end; j += kQuarters) {
                std::uint32_t near[kTogether], any = 0;
                for (std::size_t k = 0; k < kTogether; ++k)
                    any |= near[k] = near_quarters(quarter[k], quarters.of(j), screen.most);
                if (any == 0) continue;
                for (std::size_t k = 0; k < std::min(kTogether, stop - i); ++k)
                    for (; near[k] != 0; near[k] &= near[k] - 1) {
                        const std::size_t at =
                            j + static_cast<std::size_t>(std::countr_zero(near[k]));
                        if (at >= end) break;
                        if (at < span.after(i + k)) continue;
                        const std::uint32_t distance = bit_count(values[i + k] ^ values[at]);
                        if (distance <= most) found(i + k, at, distance);
                    }
            }
        }
    }
}

template <typename Compare>
NEARDUP_INLINE void each_bucket(const Buckets& buckets, const Sides& sides,
                                const Compare& compare) {
    for (std::size_t bucket = 0; bucket < buckets.count; ++bucket) {
        const std::size_t first = buckets.starts[bucket], last = buckets.starts[bucket + 1];
        if (last - first < 2 || last - first > buckets.largest) continue;
        Span span{first, last, last, sides.two};
        if (sides.two) {
            span.middle = first;
            while (span.middle < last && buckets.places[span.middle] < sides.left_count)
                ++span.middle;
            if (span.middle == first || span.middle == last) continue;
        }
        compare(span);
    }
}

inline void compare_limbs(const Buckets& buckets, const Sides& sides, std::uint32_t most,
                          const Screen& screen, const OnPair& found) {
    const std::uint64_t* values = buckets.values;
    if (screen.quarter != 0) {
        Quarters quarters(values, buckets.starts[buckets.count], screen);
        each_bucket(buckets, sides, [&](const Span& span) {
            compare_quarters(values, span, most, screen, quarters, found);
        });
        return;
    }
    each_bucket(buckets, sides, [&](const Span& span) {
        if (span.last - span.first <= kFewRows) {
            for (std::size_t i = span.first; i < span.middle; ++i)
                for (std::size_t j = span.after(i); j < span.last; ++j) {
                    const std::uint32_t distance = bit_count(values[i] ^ values[j]);
                    if (distance <= most) found(i, j, distance);
                }
        } else if (most <= kFewBits) {
            compare_halves(values, span, most, screen.half_turn, found);
        } else {
            const Tile tile{values, 0, 1, 0};
            for (std::size_t i = span.first; i < span.middle; ++i)
                compare_tile<true>(values + i, i, tile, span.after(i), span.last, most, found);
        }
    });
}

inline void compare_rows(const Buckets& buckets, const Sides& sides, std::uint32_t most,
                         std::uint64_t* room, const OnPair& found) {
    const std::uint32_t* places = buckets.places;
    const std::size_t limbs = sides.limbs;
    each_bucket(buckets, sides, [&](const Span& span) {
        if (span.last - span.first <= kFewRows) {
            for (std::size_t i = span.first; i < span.middle; ++i)
                for (std::size_t j = span.after(i); j < span.last; ++j) {
                    const std::uint32_t distance =
                        distance_of(sides.row(places[i]), sides.row(places[j]), limbs);
                    if (distance <= most) found(i, j, distance);
                }
            return;
        }
        for (std::size_t start = span.after(span.first); start < span.last; start += kTileRows) {
            const std::size_t end = std::min(start + kTileRows, span.last);
            for (std::size_t j = start; j < end; ++j) {
                const std::uint64_t* row = sides.row(places[j]);
                for (std::size_t limb = 0; limb < limbs; ++limb)
                    room[limb * kTileRows + (j - start)] = row[limb];
            }
            const Tile tile{room, kTileRows, limbs, start};
            for (std::size_t i = span.first; i < std::min(span.middle, end); ++i) {
                const std::size_t first = std::max(span.after(i), start);
                compare_tile<true>(sides.row(places[i]), i, tile, first, end, most, found);
            }
        }
    });
}

}  // namespace neardup::NEARDUP_ISA
