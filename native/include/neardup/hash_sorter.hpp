// Sorts hashes, which are evenly distributed: by their leading bits into buckets that rarely hold
// two different ones, then by insertion. Equal ones stay in order.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "neardup/buffer.hpp"
#include "neardup/isa.hpp"

namespace neardup::NEARDUP_ISA {

// A hash with the weight that it has in a document.
struct WeightedHash {
    std::uint64_t hash;
    double weight;
};

// What values are sorted by.
NEARDUP_INLINE std::uint64_t hash_of(std::uint64_t value) { return value; }
NEARDUP_INLINE std::uint64_t hash_of(const WeightedHash& value) { return value.hash; }

template <typename Value>
class HashSorter {
  public:
    // Sort `values` in place.
    void run(Value* values, std::size_t count) { sort(values, moved_.reserve(count), count, 0); }

    std::size_t bytes() const { return places_.bytes() + moved_.bytes(); }
    void release() {
        places_.release();
        moved_.release();
    }

  private:
    using Place = std::uint16_t;

    static constexpr std::size_t kSmall = 24;
    static constexpr std::size_t kMostPlaces = 0xFFFF;
    static constexpr int kMostBits = 14;  // 32 KB of places: more would leave the cache
    static constexpr int kPartBits = 8;

    // Sort values that agree in their `used` leading bits.
    void sort(Value* values, Value* scratch, std::size_t count, int used) {
        if (count <= kSmall) {
            insert_all(values, count, count);
            return;
        }
        if (used == 64 || all_equal(values, count)) return;
        if (count > kMostPlaces) return part(values, scratch, count, used);
        // Two to four buckets for each value.
        const int wanted = std::bit_width(count) + 1;
        int bits = wanted < kMostBits ? wanted : kMostBits;
        if (bits > 64 - used) bits = 64 - used;
        distribute(values, scratch, count, used, bits);
        insert_bucketed(values, scratch, count, used + bits);
    }

    // Too many values for places of 16 bits.
    void part(Value* values, Value* scratch, std::size_t count, int used) {
        const int bits = 64 - used < kPartBits ? 64 - used : kPartBits;
        std::size_t ends[1 << kPartBits] = {};
        for (std::size_t i = 0; i < count; ++i) ++ends[bucket_of(values[i], used, bits)];
        std::size_t begin = 0;
        for (std::size_t& end : ends) {
            const std::size_t size = end;
            end = begin;
            begin += size;
        }
        for (std::size_t i = 0; i < count; ++i)
            scratch[ends[bucket_of(values[i], used, bits)]++] = values[i];
        std::memcpy(values, scratch, count * sizeof *values);
        std::size_t first = 0;
        for (const std::size_t end : ends) {
            sort(values + first, scratch + first, end - first, used + bits);
            first = end;
        }
    }

    static NEARDUP_INLINE std::size_t bucket_of(const Value& value, int used, int bits) {
        return hash_of(value) << used >> (64 - bits);
    }

    NEARDUP_APART void distribute(Value* values, Value* scratch, std::size_t count, int used,
                                  int bits) {
        const std::size_t buckets = std::size_t{1} << bits;
        Place* places = places_.reserve(buckets + kPlacesAtOnce);
        std::memset(places, 0, (buckets + kPlacesAtOnce) * sizeof *places);
        for (std::size_t i = 0; i < count; ++i) ++places[bucket_of(values[i], used, bits)];
        add_up(places, buckets);
        for (std::size_t i = 0; i < count; ++i)
            scratch[places[bucket_of(values[i], used, bits)]++] = values[i];
        std::memcpy(values, scratch, count * sizeof *values);
    }

    static constexpr std::size_t kPlacesAtOnce = 4;

    // Numbers of values → where each bucket begins, four at once in 64 bits: multiplied by ones,
    // the highest of them is the sum of all.
    static void add_up(Place* places, std::size_t count) {
        constexpr std::uint64_t ones = 0x0001000100010001ULL;
        std::uint64_t before = 0;
        for (std::size_t i = 0; i < count; i += kPlacesAtOnce) {
            std::uint64_t four;
            std::memcpy(&four, places + i, sizeof four);
            const std::uint64_t sums = four * ones;
            const std::uint64_t begins = (sums << 16) + before * ones;
            std::memcpy(places + i, &begins, sizeof begins);
            before += sums >> 48;
        }
    }

    // Sort values that are in order as far as their `used` leading bits go.
    void insert_bucketed(Value* values, Value* scratch, std::size_t count, int used) {
        std::size_t sorted = insert_all(values, count, kSmall);
        while (sorted != count) {
            // A value had a long way to go: its bucket is larger than chance would make it.
            const auto same_bucket = [&](std::size_t i) {
                const std::uint64_t unlike = hash_of(values[i]) ^ hash_of(values[sorted]);
                return used == 0 || unlike >> (64 - used) == 0;
            };
            std::size_t begin = sorted, end = sorted + 1;
            while (begin != 0 && same_bucket(begin - 1)) --begin;
            while (end != count && same_bucket(end)) ++end;
            sort(values + begin, scratch + begin, end - begin, used);
            sorted = end + insert_all(values + end, count - end, kSmall);
        }
    }

    // Sort by insertion; stop before a value that would have to move further than `furthest`, and
    // return its place.
    static NEARDUP_APART std::size_t insert_all(Value* values, std::size_t count,
                                                std::size_t furthest) {
        for (std::size_t i = 1; i < count; ++i) {
            const Value value = values[i];
            const std::uint64_t hash = hash_of(value);
            if (hash_of(values[i - 1]) <= hash) [[likely]]
                continue;
            const std::size_t last = i < furthest ? 0 : i - furthest;
            std::size_t at = i - 1;
            while (at > last && hash_of(values[at - 1]) > hash) --at;
            if (at == last && last != 0 && hash_of(values[at - 1]) > hash) return i;
            std::memmove(values + at + 1, values + at, (i - at) * sizeof *values);
            values[at] = value;
        }
        return count;
    }

    static bool all_equal(const Value* values, std::size_t count) {
        std::size_t i = 1;
        while (i < count && hash_of(values[i]) == hash_of(values[0])) ++i;
        return i == count;
    }

    Buffer<Place> places_;
    Buffer<Value> moved_;
};

}  // namespace neardup::NEARDUP_ISA
