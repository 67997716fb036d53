// The exact set of the features of a document.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "neardup/buffer.hpp"
#include "neardup/isa.hpp"
#include "neardup/text/eight.hpp"

namespace neardup::NEARDUP_ISA {

class DistinctSet {
  public:
    // Leave each different value of `values` once, in no particular order; return how many.
    std::size_t run(std::uint64_t* values, std::size_t count) {
        return reduce(values, count, kLargestShift);
    }

    std::size_t bytes() const {
        return slots_.bytes() + fresh_.bytes() + late_.bytes() + parted_.bytes();
    }
    void release() {
        slots_.release();
        fresh_.release();
        late_.release();
        parted_.release();
    }

  private:
    using Slot = std::uint16_t;  // 0: free, else the place of a value, from 1
    static constexpr std::size_t kLargestTable = 1 << 15;  // values; fits the cache
    static constexpr int kLargestShift = 56;
    static constexpr int kRounds = 5;
    static constexpr int kShiftToRound = 11;         // other bits of the hash choose the slot
    static constexpr std::size_t kSlotsToValue = 4;  // at least; up to twice as many
    static constexpr std::size_t kBehind = 8;        // values that may be written behind the last
    static constexpr int kMostBits = 15;             // but not so many that they leave the cache

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
    // first value takes the slot, equal ones are dropped, and others wait for the next round. Slots
    // hold the places of values, which take a quarter of the room of the values themselves.
    std::size_t reduce_small(std::uint64_t* values, std::size_t count) {
        std::uint64_t* const fresh = fresh_.reserve(count + kBehind);
        std::uint64_t* late = late_.reserve(2 * (count + kBehind));
        std::uint64_t* later = late + count + kBehind;
        std::size_t kept = 0, waiting = count;
        const std::uint64_t* from = values;
        for (int round = 0; waiting != 0 && round < kRounds; ++round) {
            const int wanted = std::bit_width(kSlotsToValue * waiting);
            const std::size_t slots = std::size_t{1} << (wanted < kMostBits ? wanted : kMostBits);
            std::memset(slots_.reserve(slots), 0, slots * sizeof(Slot));
            const Claims claims = claim(from, waiting, slots_.data(), slots - 1,
                                        kShiftToRound * round, fresh + kept, later);
            kept += claims.kept;
            waiting = claims.late;
            std::swap(late, later);
            from = late;
        }
        std::memcpy(values, fresh, kept * sizeof *values);
        return append_sorted(values, kept, late, waiting);
    }

    struct Claims {
        std::size_t kept, late;
    };

#if defined(__x86_64__)
    // By the carry flag: compilers write twice as many instructions, or a branch.
    static NEARDUP_INLINE void take_if_free(std::uint64_t& holder, std::uint64_t place,
                                            std::uint64_t& taken) {
        asm("cmp $1, %0\n\tcmovc %2, %0\n\tadc $0, %1"
            : "+r"(holder), "+r"(taken)
            : "r"(place)
            : "cc");
    }
    static NEARDUP_INLINE void count_if_not_zero(std::uint64_t value, std::uint64_t& count) {
        asm("neg %0\n\tadc $0, %1" : "+r"(value), "+r"(count) : : "cc");
    }
#else
    static NEARDUP_INLINE void take_if_free(std::uint64_t& holder, std::uint64_t place,
                                            std::uint64_t& taken) {
        const std::uint64_t is_free = holder == 0;
        holder |= place & (0 - is_free);
        taken += is_free;
    }
    static NEARDUP_INLINE void count_if_not_zero(std::uint64_t value, std::uint64_t& count) {
        count += value != 0;
    }
#endif

    // Nothing that is compared is written to here: a processor that had to find out whether it is
    // would wait.
#if defined(NEARDUP_USE_AVX512)
    // Which values are kept and which wait is collected in two registers, 64 values at a time, the
    // last one first: each shifts the bits of those behind it up by one.
    static NEARDUP_APART Claims claim(const std::uint64_t* from, std::size_t count, Slot* slots,
                                      std::size_t mask, int shift, std::uint64_t* kept,
                                      std::uint64_t* late) {
        std::uint64_t *next_kept = kept, *next_late = late;
        const std::uint64_t* const before = from - 1;
        for (std::size_t first = 0; first < count; first += 64) {
            const std::size_t last = count - first < 64 ? count : first + 64;
            std::uint64_t are_kept = 0, are_late = 0;
            for (std::uint64_t place = last; place != first; --place) {
                const std::uint64_t value = before[place];
                Slot& slot = slots[value >> shift & mask];
                std::uint64_t holder = slot;
                are_kept <<= 1;
                take_if_free(holder, place, are_kept);
                slot = static_cast<Slot>(holder);
                are_late <<= 1;
                count_if_not_zero(before[holder] ^ value, are_late);
            }
            next_kept = copy_chosen(from + first, are_kept, next_kept);
            next_late = copy_chosen(from + first, are_late, next_late);
        }
        return {static_cast<std::size_t>(next_kept - kept),
                static_cast<std::size_t>(next_late - late)};
    }
#else
    static NEARDUP_APART Claims claim(const std::uint64_t* from, std::size_t count, Slot* slots,
                                      std::size_t mask, int shift, std::uint64_t* kept,
                                      std::uint64_t* late) {
        std::uint64_t kept_count = 0, late_count = 0;
        const std::uint64_t* const before = from - 1;
#pragma GCC unroll 4
        for (std::uint64_t place = 1; place <= count; ++place) {
            const std::uint64_t value = before[place];
            Slot& slot = slots[value >> shift & mask];
            std::uint64_t holder = slot;
            kept[kept_count] = value;
            take_if_free(holder, place, kept_count);
            slot = static_cast<Slot>(holder);
            late[late_count] = value;
            count_if_not_zero(before[holder] ^ value, late_count);
        }
        return {kept_count, late_count};
    }
#endif

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

    Buffer<Slot> slots_;
    Buffer<std::uint64_t> fresh_, late_, parted_;
};

}  // namespace neardup::NEARDUP_ISA
