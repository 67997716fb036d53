#include "neardup/text/content_keys.hpp"

#include <bit>

#include "neardup/bits.hpp"

namespace neardup {

namespace {

using NEARDUP_ISA::fold_multiply;

// Fractional digits of pi.
constexpr std::uint64_t kFirstSeed = 0xA4093822299F31D0, kSecondSeed = 0x082EFA98EC4E6C89;
constexpr std::uint64_t kFirstKey = 0x243F6A8885A308D3, kSecondKey = 0x13198A2E03707344;

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

    void write(std::uint64_t* key) const {
        key[0] = first_;
        key[1] = second_;
    }

  private:
    std::uint64_t first_, second_;
};

}  // namespace

void content_keys(const WeightedSets& sets, std::uint64_t* keys) {
    for (std::size_t i = 0; i < sets.count; ++i, keys += 2) {
        const auto begin = static_cast<std::size_t>(sets.offsets[i]);
        const auto end = static_cast<std::size_t>(sets.offsets[i + 1]);
        KeyChains chains(end - begin);
        std::size_t at = begin;
        if (sets.weights != nullptr) {
            for (; at < end; ++at)
                chains.add(sets.hashes[at], std::bit_cast<std::uint64_t>(sets.weights[at]));
        } else {
            for (; at + 1 < end; at += 2) chains.add(sets.hashes[at], sets.hashes[at + 1]);
            if (at < end) chains.add(sets.hashes[at], 0);
        }
        chains.write(keys);
    }
}

}  // namespace neardup
