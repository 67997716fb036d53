// Parity bitmaps: a small summary of a set that bounds what it can share with another.
//
// Each feature flips the bit of its slot. A feature that two sets share cancels out of the
// difference of their bitmaps, so the sets differ in at least as many features as the bitmaps do
// in bits: two sets of n and m features share at most (n + m - distance) / 2.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace neardup {

// The binary logarithm of the number of 64-bit words of the bitmap of a set: two to four bits for
// each feature, at least 128 and at most 16,384.
inline int parity_log(std::size_t features) {
    const std::size_t bits =
        std::clamp<std::size_t>(std::bit_floor(features | 1) * 4, 128, std::size_t{1} << 14);
    return std::countr_zero(bits / 64);
}

// The bitmap of a set in its own size and all smaller ones: half of it is folded onto the other.
class ParityBitmap {
  public:
    void set(const std::uint64_t* hashes, std::size_t count) {
        set(hashes, count, parity_log(count));
    }

    // Of any features, 32 or 64 bits wide, in 2^log words.
    template <typename Feature>
    void set(const Feature* features, std::size_t count, int log) {
        log_ = log;
        const std::size_t words = std::size_t{1} << log_;
        words_.assign(2 * words, 0);
        const std::uint64_t mask = words * 64 - 1;
        std::uint64_t* own = words_.data() + words;
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint64_t slot = features[i] * 0xD6E8FEB86659FD93ULL >> 40 & mask;
            own[slot / 64] ^= std::uint64_t{1} << slot % 64;
        }
        for (std::size_t half = words / 2; half != 0; half /= 2)
            for (std::size_t i = 0; i < half; ++i)
                words_[half + i] = words_[2 * half + i] ^ words_[3 * half + i];
    }

    int log() const { return log_; }

    // The bitmap of 2^log words, no more than its own size.
    const std::uint64_t* of_log(int log) const { return words_.data() + (std::size_t{1} << log); }

  private:
    int log_ = 0;
    std::vector<std::uint64_t> words_;  // that of 2^i words begins at word 2^i
};

}  // namespace neardup
