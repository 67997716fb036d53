// The exact set of the features of a document.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "neardup/buffer.hpp"
#include "neardup/isa.hpp"
#include "neardup/text/slots.hpp"

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
    static constexpr std::size_t kLargestTable = SlotTable::kMostValues;
    static constexpr int kLargestShift = 56;
    static constexpr int kRounds = 5;
    static constexpr int kShiftToRound = 11;  // other bits of the hash choose the slot
    static constexpr std::size_t kFew = 8;    // values that are compared one with another instead

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

    // In each round every value looks at one slot. Those that find another value there wait for the
    // next round, until only a few are left.
    std::size_t reduce_small(std::uint64_t* values, std::size_t count) {
        constexpr std::size_t kBehind = SlotTable::kBehind;
        std::uint64_t* const fresh = fresh_.reserve(count + kBehind);
        std::uint64_t* late = late_.reserve(2 * (count + kBehind));
        std::uint64_t* later = late + count + kBehind;
        std::size_t kept = 0, waiting = count;
        const std::uint64_t* from = values;
        for (int round = 0; waiting > kFew && round < kRounds; ++round) {
            const SlotTable::Claims claims =
                slots_.claim(from, waiting, kShiftToRound * round, fresh + kept, later);
            kept += claims.kept;
            waiting = claims.late;
            std::swap(late, later);
            from = late;
        }
        // What is left differs from all that were kept.
        const std::size_t left = waiting <= kFew ? copy_few(from, waiting, fresh + kept)
                                                 : copy_sorted(late, waiting, fresh + kept);
        std::memcpy(values, fresh, (kept + left) * sizeof *values);
        return kept + left;
    }

    static NEARDUP_INLINE std::size_t copy_few(const std::uint64_t* from, std::size_t count,
                                               std::uint64_t* to) {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < count; ++i) {
            bool is_new = true;
            for (std::size_t j = 0; j < kept; ++j) is_new &= to[j] != from[i];
            to[kept] = from[i];
            kept += is_new;
        }
        return kept;
    }

    // Only values chosen to collide are left after every round.
    static std::size_t copy_sorted(std::uint64_t* from, std::size_t count, std::uint64_t* to) {
        std::qsort(from, count, sizeof *from, [](const void* a, const void* b) {
            std::uint64_t x, y;
            std::memcpy(&x, a, sizeof x);
            std::memcpy(&y, b, sizeof y);
            return (x > y) - (x < y);
        });
        std::size_t kept = 0;
        for (std::size_t i = 0; i < count; ++i)
            if (i == 0 || from[i] != from[i - 1]) to[kept++] = from[i];
        return kept;
    }

    SlotTable slots_;
    Buffer<std::uint64_t> fresh_, late_, parted_;
};

}  // namespace neardup::NEARDUP_ISA
