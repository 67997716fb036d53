// Values in their order → a key of 128 bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "neardup/bits.hpp"
#include "neardup/isa.hpp"

namespace neardup::NEARDUP_ISA {

// Two chains of multiplications over pairs of words. A word is multiplied with the state in one of
// them and with a constant in the other, so that no single value makes both forget what came
// before.
class KeyChains {
  public:
    explicit KeyChains(std::size_t size) : first_(kFirstSeed ^ size), second_(kSecondSeed ^ size) {}

    void add(std::uint64_t x, std::uint64_t y) {
        first_ = fold_multiply(first_ ^ x, y ^ kFirstKey);
        second_ = fold_multiply(second_ ^ y, x ^ kSecondKey);
    }

    // All values, in pairs; a last one alone is paired with 0.
    void add_all(const std::uint64_t* values, std::size_t size) {
        std::size_t at = 0;
        for (; at + 1 < size; at += 2) add(values[at], values[at + 1]);
        if (at < size) add(values[at], 0);
    }

    void write(std::uint64_t* key) const {
        key[0] = first_;
        key[1] = second_;
    }

  private:
    // Fractional digits of pi.
    static constexpr std::uint64_t kFirstSeed = 0xA4093822299F31D0,
                                   kSecondSeed = 0x082EFA98EC4E6C89;
    static constexpr std::uint64_t kFirstKey = 0x243F6A8885A308D3, kSecondKey = 0x13198A2E03707344;

    std::uint64_t first_, second_;
};

}  // namespace neardup::NEARDUP_ISA
