// Sorts hashes, which are evenly distributed: by their leading bits, until buckets are small.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "neardup/buffer.hpp"
#include "neardup/isa.hpp"

namespace neardup::NEARDUP_ISA {

class HashSorter {
  public:
    // Sort `values` in place.
    void run(std::uint64_t* values, std::size_t count) {
        // As many buckets as values or more, so that few hold several; a table that leaves the
        // cache would cost more than it saves.
        const int wanted = static_cast<int>(std::bit_width(count));
        const int bits = wanted < kMostBits ? wanted : kMostBits;
        if (count <= kSmall) return insertion_sort(values, count);
        split(values, moved_.reserve(count), count, 0, bits, ends_.reserve(std::size_t{1} << bits));
    }

    std::size_t bytes() const { return ends_.bytes() + moved_.bytes(); }
    void release() {
        ends_.release();
        moved_.release();
    }

  private:
    static constexpr std::size_t kSmall = 24;
    static constexpr int kMostBits = 13, kMoreBits = 8;

    // Sort values that agree in their `used` leading bits by the next `bits`, then each bucket.
    static void split(std::uint64_t* values, std::uint64_t* scratch, std::size_t count, int used,
                      int bits, std::uint32_t* ends) {
        const auto bucket_of = [=](std::uint64_t value) { return value << used >> (64 - bits); };
        const std::size_t buckets = std::size_t{1} << bits;
        std::memset(ends, 0, buckets * sizeof *ends);
        for (std::size_t i = 0; i < count; ++i) ++ends[bucket_of(values[i])];
        std::uint32_t begin = 0;
        for (std::size_t bucket = 0; bucket < buckets; ++bucket) {
            const std::uint32_t size = ends[bucket];
            ends[bucket] = begin;
            begin += size;
        }
        for (std::size_t i = 0; i < count; ++i) scratch[ends[bucket_of(values[i])]++] = values[i];
        std::memcpy(values, scratch, count * sizeof *values);
        std::size_t first = 0;
        for (std::size_t bucket = 0; bucket < buckets; ++bucket) {
            sort_bucket(values + first, scratch + first, ends[bucket] - first, used + bits);
            first = ends[bucket];
        }
    }

    static void sort_bucket(std::uint64_t* values, std::uint64_t* scratch, std::size_t count,
                            int used) {
        if (count <= kSmall) return insertion_sort(values, count);
        if (all_equal(values, count)) return;
        std::uint32_t ends[1 << kMoreBits];
        split(values, scratch, count, used, used + kMoreBits <= 64 ? kMoreBits : 64 - used, ends);
    }

    static void insertion_sort(std::uint64_t* values, std::size_t count) {
        for (std::size_t i = 1; i < count; ++i) {
            const std::uint64_t value = values[i];
            std::size_t at = i;
            for (; at != 0 && values[at - 1] > value; --at) values[at] = values[at - 1];
            values[at] = value;
        }
    }

    static bool all_equal(const std::uint64_t* values, std::size_t count) {
        std::size_t i = 1;
        while (i < count && values[i] == values[0]) ++i;
        return i == count;
    }

    Buffer<std::uint32_t> ends_;
    Buffer<std::uint64_t> moved_;
};

}  // namespace neardup::NEARDUP_ISA
