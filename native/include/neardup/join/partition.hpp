// Rows into buckets by a digit of their key, in order within each bucket.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "kernels.hpp"
#include "mask.hpp"
#include "memory.hpp"
#include "sides.hpp"

namespace neardup {

// Digits of 8 bits: with 11, the open write streams no longer fit the first cache and its table of
// pages, and a pass took longer than it saved.
inline constexpr unsigned kMostDigitBits = 8;
inline constexpr std::size_t kMostBuckets = std::size_t{1} << kMostDigitBits;

// Rows on their way through the buckets: a value each (the row itself where it is a single word,
// else its key) and its place.
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

// Few enough bits that buckets still hold some eight rows: opening one costs as much as moving two.
inline Digit next_digit(std::size_t count, unsigned used, unsigned key_bits) {
    const auto wanted = static_cast<unsigned>(std::bit_width(count / 8));
    unsigned bits = wanted < kMostDigitBits ? wanted : kMostDigitBits;
    if (bits == 0) bits = 1;
    return {used, bits < key_bits - used ? bits : key_bits - used};
}

// Where values come from. All rows of one word each, or those of `items`:
struct AllWords {
    const Sides& sides;
    KeyPart part;
    std::uint64_t value(std::size_t i) const { return *sides.row(i); }
    std::uint32_t place(std::size_t i) const { return static_cast<std::uint32_t>(i); }
    std::uint64_t key(std::uint64_t value) const { return part.of(value); }
};
struct SomeWords {
    Items items;
    KeyPart part;
    std::uint64_t value(std::size_t i) const { return items.values[i]; }
    std::uint32_t place(std::size_t i) const { return items.places[i]; }
    std::uint64_t key(std::uint64_t value) const { return part.of(value); }
};
// Wider rows, whose key is taken anew, or was taken before:
struct AllRows {
    const Sides& sides;
    const BitMask& mask;
    std::uint64_t value(std::size_t i) const { return mask.key(sides.row(i)); }
    std::uint32_t place(std::size_t i) const { return static_cast<std::uint32_t>(i); }
    std::uint64_t key(std::uint64_t value) const { return value; }
};
struct SomeRows {
    const Sides& sides;
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

template <typename Source>
void count_digits(const Source& source, std::size_t first, std::size_t last, Digit digit,
                  std::uint32_t* counts) {
    for (std::size_t i = first; i < last; ++i) ++counts[digit.of(source.key(source.value(i)))];
}

template <typename Source>
void scatter(const Source& source, std::size_t first, std::size_t last, Digit digit,
             std::uint32_t* next, std::uint64_t* values, std::uint32_t* places) {
    for (std::size_t i = first; i < last; ++i) {
        const std::uint64_t value = source.value(i);
        const std::uint32_t to = next[digit.of(source.key(value))]++;
        values[to] = value;
        places[to] = source.place(i);
    }
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

}  // namespace neardup
