// Counts, for each of 64 bits, the hashes in which it is set, in bit-sliced form.
//
// Plane j holds bit j of 64 counters at once, in independent lanes. A tree of carry-save adders
// (Harley and Seal) takes eight hashes of each lane to one carry into plane 3.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(NEARDUP_USE_AVX512)
#include <immintrin.h>
#endif

#include "neardup/isa.hpp"

namespace neardup::NEARDUP_ISA {

class BitCounter {
  public:
#if defined(NEARDUP_USE_AVX512)
    static constexpr int kLanes = 8;
#else
    static constexpr int kLanes = 4;
#endif
    // Pure vector code: the compiler turns it into AVX2, SSE2 or NEON. Memory from malloc is
    // aligned to 16 bytes, so that is all that may be assumed.
    typedef std::uint64_t Lanes __attribute__((vector_size(8 * kLanes), aligned(16)));

    // Call this first.
    void restart() { blocks_ = 0; }

    void add(const std::uint64_t* hashes, std::size_t count) {
        std::size_t i = 0;
        for (; i + kBlock <= count; i += kBlock) add_block(hashes + i);
        if (i == count) return;
        std::uint64_t padded[kBlock] = {};
        std::memcpy(padded, hashes + i, (count - i) * sizeof *hashes);
        add_block(padded);
    }

    // The bits that are set in at least `least` of the hashes.
    std::uint64_t at_least(std::uint64_t least) const {
        if (blocks_ == 0) return least == 0 ? ~std::uint64_t{0} : 0;
        Lanes counts[kMostPlanes + kLaneBits];
        int planes = kTreePlanes + std::bit_width(blocks_);
        std::memcpy(counts, planes_, static_cast<std::size_t>(planes) * sizeof *counts);
        if constexpr (kLanes == 8) add_lanes<4>(counts, planes++);
        add_lanes<2>(counts, planes++);
        add_lanes<1>(counts, planes++);
        // A count is too small where subtracting `least` from it borrows.
        if (least >> planes != 0) return 0;
        std::uint64_t borrow = 0;
        for (int j = 0; j < planes; ++j) {
            const std::uint64_t count = counts[j][0], wanted = 0 - (least >> j & 1);
            borrow = (~count & wanted) | (~(count ^ wanted) & borrow);
        }
        return ~borrow;
    }

  private:
    static constexpr std::size_t kBlock = 8 * kLanes;
    static constexpr int kLaneBits = std::bit_width(unsigned{kLanes}) - 1;
    static constexpr int kTreePlanes = 3;
    static constexpr int kMostPlanes = 44;

    static NEARDUP_INLINE Lanes load(const std::uint64_t* from) {
        Lanes lanes;
        std::memcpy(&lanes, from, sizeof lanes);
        return lanes;
    }

    // Put the sum of a, b and c into `low`; what overflows is returned, one plane up.
    static NEARDUP_INLINE Lanes carry_save(Lanes& low, Lanes a, Lanes b, Lanes c) {
#if defined(NEARDUP_USE_AVX512)
        const auto x = reinterpret_cast<__m512i>(a), y = reinterpret_cast<__m512i>(b),
                   z = reinterpret_cast<__m512i>(c);
        low = reinterpret_cast<Lanes>(_mm512_ternarylogic_epi64(x, y, z, 0x96));
        return reinterpret_cast<Lanes>(_mm512_ternarylogic_epi64(x, y, z, 0xE8));
#else
        const Lanes sum = a ^ b;
        const Lanes carry = (a & b) | (sum & c);
        low = sum ^ c;
        return carry;
#endif
    }

    static NEARDUP_INLINE Lanes carry_save(Lanes& low, Lanes a, Lanes b) {
        return carry_save(low, a, b, low);
    }

    // Add to the counts of each lane those of the lane `kStep` further on, round to the first.
    template <int kStep>
    static NEARDUP_INLINE void add_lanes(Lanes* counts, int planes) {
        Lanes carry{};
        for (int j = 0; j < planes; ++j) {
            Lanes other;
            for (int lane = 0; lane < kLanes; ++lane)
                other[lane] = counts[j][(lane + kStep) % kLanes];
            carry = carry_save(counts[j], counts[j], other, carry);
        }
        counts[planes] = carry;
    }

    NEARDUP_INLINE void add_block(const std::uint64_t* hashes) {
        Lanes ones{}, twos{}, fours{};
        if (blocks_ != 0) {
            ones = planes_[0];
            twos = planes_[1];
            fours = planes_[2];
        }
        const Lanes twos_a = carry_save(ones, load(hashes), load(hashes + kLanes));
        const Lanes twos_b = carry_save(ones, load(hashes + 2 * kLanes), load(hashes + 3 * kLanes));
        const Lanes fours_a = carry_save(twos, twos_a, twos_b);
        const Lanes twos_c = carry_save(ones, load(hashes + 4 * kLanes), load(hashes + 5 * kLanes));
        const Lanes twos_d = carry_save(ones, load(hashes + 6 * kLanes), load(hashes + 7 * kLanes));
        const Lanes fours_b = carry_save(twos, twos_c, twos_d);
        Lanes carry = carry_save(fours, fours_a, fours_b);
        planes_[0] = ones;
        planes_[1] = twos;
        planes_[2] = fours;
        const int before = std::bit_width(blocks_), after = std::bit_width(++blocks_);
        for (int j = kTreePlanes; j < kTreePlanes + before; ++j) {
            const Lanes both = planes_[j] & carry;
            planes_[j] ^= carry;
            carry = both;
        }
        if (after > before) planes_[kTreePlanes + before] = carry;
    }

    Lanes planes_[kMostPlanes];
    std::uint64_t blocks_;
};

}  // namespace neardup::NEARDUP_ISA
