// A mask of bits of a row, and the key that rows which agree on the mask share.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace neardup {

// Part of a key: some bits of one limb, turned to the top or spread by a multiplication.
struct KeyPart {
    std::uint32_t limb;
    int turn;
    std::uint64_t bits;  // after the turn
    std::uint64_t factor;

    std::uint64_t of(std::uint64_t value) const { return (std::rotl(value, turn) & bits) * factor; }
};

class BitMask {
  public:
    // From a row of limbs.
    BitMask(const std::uint64_t* limbs, std::size_t count);

    // Whether two rows are equal on all bits of the mask.
    bool agree(const std::uint64_t* x, const std::uint64_t* y) const {
        for (const Part& part : parts_)
            if (((x[part.limb] ^ y[part.limb]) & part.bits) != 0) return false;
        return true;
    }

    // The number of bits of the mask in which two rows differ.
    std::size_t differences(const std::uint64_t* x, const std::uint64_t* y) const {
        int sum = 0;
        for (const Part& part : parts_)
            sum += std::popcount((x[part.limb] ^ y[part.limb]) & part.bits);
        return static_cast<std::size_t>(sum);
    }

    // A number whose top `key_bits` bits tell rows apart; rows that agree on the mask share it.
    std::uint64_t key(const std::uint64_t* row) const {
        std::uint64_t sum = 0;
        for (const KeyPart& part : key_) sum += part.of(row[part.limb]);
        return sum;
    }

    // The key of rows of a single limb.
    KeyPart limb_key() const { return key_.empty() ? KeyPart{0, 0, 0, 1} : key_.front(); }

    unsigned key_bits() const { return size_ < 64 ? size_ : 64; }

    // The bits in limb `limb`.
    std::uint64_t bits_of(std::size_t limb) const;

  private:
    struct Part {
        std::uint32_t limb;
        std::uint64_t bits;
    };

    std::vector<Part> parts_;
    std::vector<KeyPart> key_;
    unsigned size_ = 0;
};

}  // namespace neardup
