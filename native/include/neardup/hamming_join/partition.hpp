// Partitions rows into buckets by a digit of their key; stable within each bucket.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "neardup/hamming_join/kernels.hpp"
#include "neardup/hamming_join/mask.hpp"
#include "neardup/parallel.hpp"
#include "neardup/room.hpp"

namespace neardup {

// Digits of 8 bits: with 11, the write streams no longer fit the first-level cache and TLB, and a
// pass took longer than it saved.
inline constexpr unsigned kMostDigitBits = 8;
inline constexpr std::size_t kMostBuckets = std::size_t{1} << kMostDigitBits;

// Rows being partitioned: for each its place and a value (the row itself if it is a single limb,
// else its key).
struct Items {
    const std::uint64_t* values;
    const std::uint32_t* places;
    std::size_t count;

    Items part(std::size_t first, std::size_t last) const {
        return {values + first, places + first, last - first};
    }
};

// Room for items, with kPadding values behind them.
struct ItemRoom {
    Room<std::uint64_t> values;
    Room<std::uint32_t> places;

    void make(std::size_t count) {
        values.at_least(count + kPadding);
        places.at_least(count);
    }
};

// Some bits of a key, counted from the top; none make one bucket.
struct Digit {
    unsigned skipped, bits;

    std::size_t of(std::uint64_t key) const { return key << skipped >> 1 >> (63 - bits); }
    std::size_t buckets() const { return std::size_t{1} << bits; }
};

// So few bits that buckets still hold about eight rows: opening one costs as much as moving two.
// Of rows of one limb, up to 32 are compared at once, and 16 take little longer than eight.
inline Digit next_digit(std::size_t count, std::size_t limbs, unsigned used, unsigned key_bits) {
    const auto wanted = static_cast<unsigned>(std::bit_width(count / (limbs == 1 ? 16 : 8)));
    unsigned bits = wanted < kMostDigitBits ? wanted : kMostDigitBits;
    if (bits == 0) bits = 1;
    return {used, bits < key_bits - used ? bits : key_bits - used};
}

// Where values come from. All rows of one limb each, or those of `items`:
struct AllLimbs {
    Sides sides;
    KeyPart part;
    std::uint64_t value(std::size_t i) const { return *sides.row(i); }
    std::uint32_t place(std::size_t i) const { return static_cast<std::uint32_t>(i); }
    std::uint64_t key(std::uint64_t value) const { return part.of(value); }
};
struct SomeLimbs {
    Items items;
    KeyPart part;
    std::uint64_t value(std::size_t i) const { return items.values[i]; }
    std::uint32_t place(std::size_t i) const { return items.places[i]; }
    std::uint64_t key(std::uint64_t value) const { return part.of(value); }
};
// Wider rows, whose key is computed here, or was computed before:
struct AllRows {
    Sides sides;
    const BitMask& mask;
    std::uint64_t value(std::size_t i) const { return mask.key(sides.row(i)); }
    std::uint32_t place(std::size_t i) const { return static_cast<std::uint32_t>(i); }
    std::uint64_t key(std::uint64_t value) const { return value; }
};
struct SomeRows {
    Sides sides;
    const BitMask& mask;
    const std::uint32_t* places;
    std::uint64_t value(std::size_t i) const { return mask.key(sides.row(places[i])); }
    std::uint32_t place(std::size_t i) const { return places[i]; }
    std::uint64_t key(std::uint64_t value) const { return value; }
};
struct KeyedRows {
    Items items;
    std::uint64_t value(std::size_t i) const { return items.values[i]; }
    std::uint32_t place(std::size_t i) const { return items.places[i]; }
    std::uint64_t key(std::uint64_t value) const { return value; }
};

// The digit of a value: of its key, or, faster, of a limb whose key is a stretch of its bits.
template <typename Source>
struct KeyDigit {
    Source source;
    Digit digit;
    std::size_t of(std::uint64_t value) const { return digit.of(source.key(value)); }
};
struct StretchDigit {
    int turn;
    std::uint64_t buckets;
    std::size_t of(std::uint64_t value) const { return std::rotl(value, turn) & (buckets - 1); }
};

// Call work(digit_of), with the faster kind where it is possible.
template <typename Source, typename Work>
void with_digit(const Source& source, Digit digit, const Work& work) {
    if constexpr (requires { source.part; })
        if (source.part.factor == 1) {
            const int turn = source.part.turn + static_cast<int>(digit.skipped + digit.bits);
            return work(StretchDigit{turn, digit.buckets()});
        }
    work(KeyDigit<Source>{source, digit});
}

// The source is copied: as a reference, what is written could be a part of it, and all of it would
// be read again for each row.
template <typename Source>
void count_digits(const Source source, std::size_t first, std::size_t last, Digit digit,
                  std::uint32_t* counts) {
    with_digit(source, digit, [=](const auto digit_of) {
        for (std::size_t i = first; i < last; ++i) ++counts[digit_of.of(source.value(i))];
    });
}

template <typename Source>
void scatter(const Source source, std::size_t first, std::size_t last, Digit digit,
             std::uint32_t* next, std::uint64_t* values, std::uint32_t* places) {
    with_digit(source, digit, [=](const auto digit_of) {
        for (std::size_t i = first; i < last; ++i) {
            const std::uint64_t value = source.value(i);
            const std::uint32_t to = next[digit_of.of(value)]++;
            values[to] = value;
            places[to] = source.place(i);
        }
    });
}

// Partition on one thread; bucket d is then [starts[d], starts[d + 1]) of the items.
template <typename Source>
Items partition(const Source& source, std::size_t count, Digit digit, std::uint32_t* starts,
                ItemRoom& room) {
    room.make(count);
    std::uint32_t next[kMostBuckets];
    std::fill_n(next, digit.buckets(), 0);
    count_digits(source, 0, count, digit, next);
    std::uint32_t sum = 0;
    for (std::size_t bucket = 0; bucket < digit.buckets(); ++bucket) {
        starts[bucket] = sum;
        sum += next[bucket];
        next[bucket] = starts[bucket];
    }
    starts[digit.buckets()] = sum;
    scatter(source, 0, count, digit, next, room.values.data(), room.places.data());
    return {room.values.data(), room.places.data(), count};
}

// Starting a thread does not pay for fewer rows.
inline constexpr std::size_t kThreadRows = 4096;

inline std::size_t useful_threads(std::size_t threads, std::size_t rows) {
    return std::clamp<std::size_t>(threads, 1, 1 + rows / kThreadRows);
}

// All rows in buckets by their first digit, by several threads. Filled once for each block, in the
// same room.
class TopBuckets {
  public:
    // Each thread partitions one stretch of the rows and writes it after the earlier stretches, so
    // that buckets keep the order of the rows.
    template <typename Source>
    void fill(const Source& source, std::size_t count, Digit digit, std::size_t threads) {
        const std::size_t parts = threads, buckets = digit.buckets();
        std::vector<std::uint32_t> next(parts * buckets);
        const auto from = [&](std::size_t part) { return part * count / parts; };
        const auto each_part = [&](const auto& work) {
            parallel_tasks(parts, threads, [&](const auto& next_part) {
                for (std::size_t part = next_part(); part < parts; part = next_part())
                    work(from(part), from(part + 1), &next[part * buckets]);
            });
        };
        each_part([&](std::size_t first, std::size_t last, std::uint32_t* counts) {
            count_digits(source, first, last, digit, counts);
        });
        starts_.assign(1, 0);
        std::uint32_t sum = 0;
        for (std::size_t bucket = 0; bucket < buckets; ++bucket) {
            for (std::size_t part = 0; part < parts; ++part)
                sum += std::exchange(next[part * buckets + bucket], sum);
            starts_.push_back(sum);
        }
        room_.make(count);
        each_part([&](std::size_t first, std::size_t last, std::uint32_t* to) {
            scatter(source, first, last, digit, to, room_.values.data(), room_.places.data());
        });
    }

    Items bucket(std::size_t bucket) const {
        return {room_.values.data() + starts_[bucket], room_.places.data() + starts_[bucket],
                size(bucket)};
    }

    // The buckets of at least `least` rows, largest first, so that no thread starts a large one
    // last.
    std::vector<std::size_t> by_size(std::size_t least) const {
        std::vector<std::size_t> order;
        for (std::size_t bucket = 0; bucket + 1 < starts_.size(); ++bucket)
            if (size(bucket) >= least) order.push_back(bucket);
        std::stable_sort(order.begin(), order.end(),
                         [&](std::size_t x, std::size_t y) { return size(x) > size(y); });
        return order;
    }

  private:
    std::size_t size(std::size_t bucket) const { return starts_[bucket + 1] - starts_[bucket]; }

    ItemRoom room_;
    std::vector<std::uint32_t> starts_;
};

}  // namespace neardup
