// One round of finding equal values: each of them looks at one slot of a table.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "neardup/buffer.hpp"
#include "neardup/isa.hpp"
#include "neardup/text/eight.hpp"

namespace neardup::NEARDUP_ISA {

class SlotTable {
  public:
    static constexpr std::size_t kMostValues = 1 << 15;  // in one round; their slots fit the cache
    static constexpr std::size_t kBehind = 8;  // values that may be written behind the last one

    struct Claims {
        std::size_t kept, late;
    };

    // The bits of a value above the lowest `shift` choose its slot. One value to a slot is kept,
    // those equal to it are dropped, and the others are late. Not one branch depends on a value: it
    // would be mispredicted.
    Claims claim(const std::uint64_t* from, std::size_t count, int shift, std::uint64_t* kept,
                 std::uint64_t* late) {
        const int wanted = std::bit_width(kSlotsToValue * count);
        const std::size_t slots = std::size_t{1} << (wanted < kMostBits ? wanted : kMostBits);
        slots_.reserve(slots);
        return claim_slots(from, count, shift, slots, kept, late);
    }

#if defined(NEARDUP_USE_AVX512)
    std::size_t bytes() const { return slots_.bytes() + holders_.bytes() + rest_.bytes(); }
    void release() {
        slots_.release();
        holders_.release();
        rest_.release();
    }
#else
    std::size_t bytes() const { return slots_.bytes(); }
    void release() { slots_.release(); }
#endif

  private:
    // Slots hold the places of values, which take a quarter of the room of the values themselves.
    using Slot = std::uint16_t;
    static constexpr std::size_t kSlotsToValue = 4;  // at least; up to twice as many
    static constexpr int kMostBits = 15;             // but not so many that they leave the cache

#if defined(NEARDUP_USE_AVX512)
    // Every value writes its place to its slot, and the last one holds it. No slot is read that was
    // not written in the same round, so none is ever cleared, and nothing is read soon after it was
    // written. What is not done slot by slot is done in vectors. (Per value of English `char:4` on
    // a Zen 4, in ticks: 4.7 for the way below with its results collected in masks, 3.7 for this.
    // Written without vectors it takes 5.6, where the way below takes 4.0.)
    Claims claim_slots(const std::uint64_t* from, std::size_t count, int shift, std::size_t slots,
                       std::uint64_t* kept, std::uint64_t* late) {
        Slot* const chosen = holders_.reserve(count + kPlacesAtOnce);
        choose_slots(from, count, shift, slots - 1, chosen);
        take_slots(chosen, count, slots_.data());
        read_holders(chosen, count, slots_.data());
        return part(from, count, chosen, rest_.reserve(count + kPlacesAtOnce), kept, late);
    }

    static constexpr std::size_t kPlacesAtOnce = 32;

    static NEARDUP_INLINE void choose_slots(const std::uint64_t* from, std::size_t count, int shift,
                                            std::size_t mask, Slot* chosen) {
        const __m512i masks = eight_times(mask);
        const __m128i shifts = _mm_cvtsi32_si128(shift);
        std::size_t i = 0;
        for (; i + 8 <= count; i += 8)
            _mm_storeu_si128(reinterpret_cast<__m128i*>(chosen + i),
                             _mm512_cvtepi64_epi16(_mm512_and_si512(
                                 _mm512_srl_epi64(load_eight(from + i), shifts), masks)));
        for (; i < count; ++i) chosen[i] = static_cast<Slot>(from[i] >> shift & mask);
    }

    static NEARDUP_INLINE std::uint64_t load_four(const Slot* from) {
        std::uint64_t four;
        std::memcpy(&four, from, sizeof four);
        return four;
    }

    static NEARDUP_APART void take_slots(const Slot* chosen, std::size_t count, Slot* slots) {
        std::size_t i = 0;
        for (; i + 4 <= count; i += 4) {
            const std::uint64_t four = load_four(chosen + i);
            slots[four & 0xFFFF] = static_cast<Slot>(i);
            slots[four >> 16 & 0xFFFF] = static_cast<Slot>(i + 1);
            slots[four >> 32 & 0xFFFF] = static_cast<Slot>(i + 2);
            slots[four >> 48] = static_cast<Slot>(i + 3);
        }
        for (; i < count; ++i) slots[chosen[i]] = static_cast<Slot>(i);
    }

    // Replace the numbers of slots by what the slots hold. Four at a time, because a processor
    // writes once to a cycle.
    static NEARDUP_APART void read_holders(Slot* chosen, std::size_t count, const Slot* slots) {
        const auto held = [&](std::uint64_t slot) -> std::uint64_t { return slots[slot & 0xFFFF]; };
        std::size_t i = 0;
        for (; i + 4 <= count; i += 4) {
            const std::uint64_t four = load_four(chosen + i);
            const std::uint64_t holders = held(four) | held(four >> 16) << 16 |
                                          held(four >> 32) << 32 | held(four >> 48) << 48;
            std::memcpy(chosen + i, &holders, sizeof holders);
        }
        for (; i < count; ++i) chosen[i] = slots[chosen[i]];
    }

    // The values that hold their slots are kept; the rest, which are few, are compared with those
    // that do. `holders` is overwritten with the holders of the rest, `rest` with their places.
    static NEARDUP_APART Claims part(const std::uint64_t* from, std::size_t count, Slot* holders,
                                     Slot* rest, std::uint64_t* kept, std::uint64_t* late) {
        std::uint64_t* next_kept = kept;
        std::size_t rest_count = 0;
        __m512i places = ascending<Slot>();
        for (std::size_t first = 0; first < count; first += kPlacesAtOnce) {
            const std::size_t left = count - first;
            const std::uint32_t wanted = left < kPlacesAtOnce ? (1U << left) - 1 : ~0U;
            const __m512i held = load_eight(holders + first);
            const std::uint32_t are_kept = _mm512_mask_cmpeq_epi16_mask(wanted, held, places);
            const std::uint32_t are_rest = wanted & ~are_kept;
            next_kept = copy_chosen(from + first, are_kept, next_kept);
            _mm512_storeu_si512(holders + rest_count, _mm512_maskz_compress_epi16(are_rest, held));
            _mm512_storeu_si512(rest + rest_count, _mm512_maskz_compress_epi16(are_rest, places));
            rest_count += static_cast<std::size_t>(std::popcount(are_rest));
            places = _mm512_add_epi16(places, _mm512_set1_epi16(kPlacesAtOnce));
        }
        std::uint64_t* next_late = late;
        for (std::size_t i = 0; i < rest_count; ++i) {
            const std::uint64_t value = from[rest[i]];
            *next_late = value;
            next_late += value != from[holders[i]];
        }
        return {static_cast<std::size_t>(next_kept - kept),
                static_cast<std::size_t>(next_late - late)};
    }

    Buffer<Slot> slots_, holders_, rest_;
#else
    // The first value takes a slot; 0: free, else a place, from 1. Nothing that is compared is
    // written to here: a processor that had to find out whether it is would wait.
    Claims claim_slots(const std::uint64_t* from, std::size_t count, int shift, std::size_t slots,
                       std::uint64_t* kept, std::uint64_t* late) {
        std::memset(slots_.data(), 0, slots * sizeof(Slot));
        return take_in_turn(from, count, slots_.data(), slots - 1, shift, kept, late);
    }

    static NEARDUP_APART Claims take_in_turn(const std::uint64_t* from, std::size_t count,
                                             Slot* slots, std::size_t mask, int shift,
                                             std::uint64_t* kept, std::uint64_t* late) {
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

    Buffer<Slot> slots_;
#endif
};

}  // namespace neardup::NEARDUP_ISA
