// Counts, for each of 64 bits, the hashes in which it is set, in bit-sliced form.
//
// Plane j holds bit j of 64 counters at once, in four independent lanes. A tree of carry-save
// adders (Harley and Seal) takes 32 hashes to one carry into plane 3.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "neardup/isa.hpp"

namespace neardup::NEARDUP_ISA {

class BitCounter {
  public:
    // Pure vector code: the compiler turns it into AVX2, SSE2 or NEON. Memory from malloc is
    // aligned to 16 bytes, so that is all that may be assumed.
    typedef std::uint64_t Lanes __attribute__((vector_size(32), aligned(16)));

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
        std::uint64_t counts[kMostPlanes + 2] = {};
        const int planes = kTreePlanes + std::bit_width(blocks_);
        if (blocks_ != 0) {
            for (int lane = 0; lane < 4; ++lane) {
                std::uint64_t carry = 0;
                for (int j = 0; j < planes + 2; ++j) {
                    const std::uint64_t plane = j < planes ? planes_[j][lane] : 0;
                    const std::uint64_t sum = counts[j] ^ plane;
                    const std::uint64_t both = counts[j] & plane;
                    counts[j] = sum ^ carry;
                    carry = both | (sum & carry);
                }
            }
        }
        // A count is too small where subtracting `least` from it borrows.
        std::uint64_t borrow = 0;
        for (int j = 0; j < kMostPlanes + 2; ++j) {
            const std::uint64_t wanted = 0 - (least >> j & 1);
            borrow = (~counts[j] & wanted) | (~(counts[j] ^ wanted) & borrow);
        }
        return ~borrow;
    }

  private:
    static constexpr std::size_t kBlock = 32;
    static constexpr int kTreePlanes = 3;
    static constexpr int kMostPlanes = 44;

    static NEARDUP_INLINE Lanes load(const std::uint64_t* from) {
        Lanes lanes;
        std::memcpy(&lanes, from, sizeof lanes);
        return lanes;
    }

    // Add a and b to `low`; what overflows is returned, one plane up.
    static NEARDUP_INLINE Lanes carry_save(Lanes& low, Lanes a, Lanes b) {
        const Lanes sum = a ^ b;
        const Lanes carry = (a & b) | (sum & low);
        low = sum ^ low;
        return carry;
    }

    NEARDUP_INLINE void add_block(const std::uint64_t* hashes) {
        Lanes ones{}, twos{}, fours{};
        if (blocks_ != 0) {
            ones = planes_[0];
            twos = planes_[1];
            fours = planes_[2];
        }
        const Lanes twos_a = carry_save(ones, load(hashes), load(hashes + 4));
        const Lanes twos_b = carry_save(ones, load(hashes + 8), load(hashes + 12));
        const Lanes fours_a = carry_save(twos, twos_a, twos_b);
        const Lanes twos_c = carry_save(ones, load(hashes + 16), load(hashes + 20));
        const Lanes twos_d = carry_save(ones, load(hashes + 24), load(hashes + 28));
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
