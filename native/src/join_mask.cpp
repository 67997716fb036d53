#include "neardup/join/mask.hpp"

namespace neardup {

namespace {

// The golden ratio, and from there on odd numbers that nobody chose for their effect.
std::uint64_t odd_factor(std::size_t word) {
    std::uint64_t mixed = (word + 1) * 0x9E3779B97F4A7C15ULL;
    mixed = (mixed ^ mixed >> 32) * 0xD6E8FEB86659FD93ULL;
    return word == 0 ? 0x9E3779B97F4A7C15ULL : (mixed ^ mixed >> 32) | 1;
}

bool contiguous(std::uint64_t bits) {
    const std::uint64_t shifted = bits >> std::countr_zero(bits);
    return (shifted & (shifted + 1)) == 0;
}

}  // namespace

BitMask::BitMask(const std::uint64_t* words, std::size_t count) {
    for (std::size_t word = 0; word < count; ++word) {
        if (words[word] == 0) continue;
        parts_.push_back({static_cast<std::uint32_t>(word), words[word]});
        key_.push_back({static_cast<std::uint32_t>(word), 0, words[word], odd_factor(word)});
        size_ += static_cast<unsigned>(std::popcount(words[word]));
    }
    if (key_.size() == 1 && contiguous(key_[0].bits)) {
        const int turn = std::countl_zero(key_[0].bits);
        key_[0] = {key_[0].word, turn, std::rotl(key_[0].bits, turn), 1};
    }
}

std::uint64_t BitMask::bits_of(std::size_t word) const {
    for (const Part& part : parts_)
        if (part.word == word) return part.bits;
    return 0;
}

}  // namespace neardup
