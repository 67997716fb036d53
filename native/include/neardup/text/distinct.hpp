// The exact set of the features of a document.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "neardup/buffer.hpp"
#include "neardup/isa.hpp"

namespace neardup::NEARDUP_ISA {

class DistinctSet {
  public:
    // Leave each different value of `values` once, in no particular order; return how many.
    std::size_t run(std::uint64_t* values, std::size_t count) {
        return reduce(values, count, kLargestShift);
    }

    std::size_t bytes() const { return slots_.bytes() + late_.bytes() + parted_.bytes(); }
    void release() {
        slots_.release();
        late_.release();
        parted_.release();
    }

  private:
    static constexpr std::size_t kLargestTable = 1 << 15;  // values; fits the cache
    static constexpr int kLargestShift = 56;
    static constexpr int kRounds = 5;
    static constexpr int kShiftToRound = 11;         // other bits of the hash choose the slot
    static constexpr std::size_t kSlotsToValue = 2;  // at least; up to twice as many

    // Too many values for one table are partitioned by their leading bytes first.
    std::size_t reduce(std::uint64_t* values, std::size_t count, int shift) {
        if (count <= kLargestTable) return reduce_small(values, count);
        if (shift < 0) return 1;  // all eight bytes are the same
        std::size_t starts[257] = {};
        for (std::size_t i = 0; i < count; ++i) ++starts[(values[i] >> shift & 255) + 1];
        for (int part = 0; part < 256; ++part) starts[part + 1] += starts[part];
        std::size_t next[256];
        std::memcpy(next, starts, sizeof next);
        std::uint64_t* parted = parted_.reserve(count);
        for (std::size_t i = 0; i < count; ++i)
            parted[next[values[i] >> shift & 255]++] = values[i];
        std::memcpy(values, parted, count * sizeof *values);
        std::size_t kept = 0;
        for (int part = 0; part < 256; ++part) {
            std::uint64_t* begin = values + starts[part];
            const std::size_t left = reduce(begin, starts[part + 1] - starts[part], shift - 8);
            std::memmove(values + kept, begin, left * sizeof *values);
            kept += left;
        }
        return kept;
    }

    // In each round every value looks at one slot, without a branch that could be mispredicted: the
    // first value takes the slot, equal ones are dropped, and others wait for the next round.
    std::size_t reduce_small(std::uint64_t* values, std::size_t count) {
        // A zero would look like a free slot, so it is set apart.
        const bool zero = has_zero(values, count);
        if (zero) count = without_zeros(values, count);
        std::uint64_t* late = late_.reserve(count + 1);
        std::size_t kept = 0, waiting = count;
        const std::uint64_t* from = values;
        for (int round = 0; waiting != 0 && round < kRounds; ++round) {
            const std::size_t slots = std::size_t{1} << std::bit_width(kSlotsToValue * waiting);
            std::memset(slots_.reserve(slots), 0, slots * sizeof(std::uint64_t));
            const Claims claims = claim(from, waiting, slots_.data(), slots - 1,
                                        kShiftToRound * round, values + kept, late);
            kept += claims.kept;
            waiting = claims.late;
            from = late;
        }
        kept = append_sorted(values, kept, late, waiting);
        if (zero) values[kept++] = 0;
        return kept;
    }

    struct Claims {
        std::size_t kept, late;
    };

    static NEARDUP_APART Claims claim(const std::uint64_t* from, std::size_t count,
                                      std::uint64_t* slots, std::size_t mask, int shift,
                                      std::uint64_t* kept, std::uint64_t* late) {
        std::size_t kept_count = 0, late_count = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint64_t value = from[i];
            std::uint64_t& slot = slots[value >> shift & mask];
            const std::uint64_t there = slot;
            const std::uint64_t is_new = there == 0;
            const std::uint64_t holds = there | (value & (0 - is_new));  // a select may branch
            slot = holds;
            kept[kept_count] = value;
            kept_count += is_new;
            late[late_count] = value;
            late_count += holds != value;
        }
        return {kept_count, late_count};
    }

    static bool has_zero(const std::uint64_t* values, std::size_t count) {
        std::uint64_t found = 0;
        for (std::size_t i = 0; i < count; ++i) found |= values[i] == 0;
        return found != 0;
    }

    static std::size_t without_zeros(std::uint64_t* values, std::size_t count) {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < count; ++i)
            if (values[i] != 0) values[kept++] = values[i];
        return kept;
    }

    // Only values chosen to collide are left after every round.
    static std::size_t append_sorted(std::uint64_t* values, std::size_t kept, std::uint64_t* late,
                                     std::size_t waiting) {
        std::qsort(late, waiting, sizeof *late, [](const void* a, const void* b) {
            std::uint64_t x, y;
            std::memcpy(&x, a, sizeof x);
            std::memcpy(&y, b, sizeof y);
            return (x > y) - (x < y);
        });
        for (std::size_t i = 0; i < waiting; ++i)
            if (i == 0 || late[i] != late[i - 1]) values[kept++] = late[i];
        return kept;
    }

    Buffer<std::uint64_t> slots_, late_, parted_;
};

}  // namespace neardup::NEARDUP_ISA
