#include "neardup/hamming_join/mask.hpp"

namespace neardup {

namespace {

// The golden ratio, then odd numbers derived from it.
std::uint64_t odd_factor(std::size_t limb) {
    std::uint64_t mixed = (limb + 1) * 0x9E3779B97F4A7C15ULL;
    mixed = (mixed ^ mixed >> 32) * 0xD6E8FEB86659FD93ULL;
    return limb == 0 ? 0x9E3779B97F4A7C15ULL : (mixed ^ mixed >> 32) | 1;
}

bool contiguous(std::uint64_t bits) {
    const std::uint64_t shifted = bits >> std::countr_zero(bits);
    return (shifted & (shifted + 1)) == 0;
}

}  // namespace

BitMask::BitMask(const std::uint64_t* limbs, std::size_t count) {
    for (std::size_t limb = 0; limb < count; ++limb) {
        if (limbs[limb] == 0) continue;
        parts_.push_back({static_cast<std::uint32_t>(limb), limbs[limb]});
        key_.push_back({static_cast<std::uint32_t>(limb), 0, limbs[limb], odd_factor(limb)});
        size_ += static_cast<unsigned>(std::popcount(limbs[limb]));
    }
    if (key_.size() == 1 && contiguous(key_[0].bits)) {
        const int turn = std::countl_zero(key_[0].bits);
        key_[0] = {key_[0].limb, turn, std::rotl(key_[0].bits, turn), 1};
    }
}

std::uint64_t BitMask::bits_of(std::size_t limb) const {
    for (const Part& part : parts_)
        if (part.limb == limb) return part.bits;
    return 0;
}

}  // namespace neardup
