#include "neardup/index_tables/mask_key.hpp"

#include <algorithm>

namespace neardup {

namespace {

// The bits of tags that are a hash of the key. Buckets tell short masks apart by themselves; rows
// that agree on a long one are few, and need no other bits.
std::uint32_t exact_bits(unsigned mask_bits) {
    return mask_bits <= 12 ? 0 : mask_bits <= 24 ? 0xFF000000 : 0xFFFFFFFF;
}

// The bits [first, first + count) of a limb, 0 the most significant.
std::uint64_t bits_at(unsigned first, unsigned count) {
    return (~std::uint64_t{0} << (64 - count)) >> first;
}

}  // namespace

MaskKey::MaskKey(const std::uint64_t* mask, std::size_t limbs, std::size_t bits) {
    for (std::size_t limb = 0; limb < limbs; ++limb) {
        if (mask[limb] == 0) continue;
        parts_.push_back({static_cast<std::uint32_t>(limb), mask[limb]});
        for (std::uint64_t rest = mask[limb]; rest != 0;) {
            // As many neighbouring bits as go into the same piece.
            const auto from = static_cast<unsigned>(std::countl_zero(rest)), to = size_ % 64;
            const auto length = static_cast<unsigned>(std::countl_one(rest << from));
            const unsigned count = std::min(length, 64 - to);
            const int turn = static_cast<int>(from) - static_cast<int>(to);
            if (to == 0) piece_ends_.push_back(static_cast<std::uint32_t>(runs_.size()));
            runs_.push_back({static_cast<std::uint32_t>(limb), turn, bits_at(to, count)});
            ++piece_ends_.back();
            rest &= ~bits_at(from, count);
            size_ += count;
        }
    }
    exact_ = exact_bits(size_);
    unsigned most_free = 0;
    for (std::size_t half = 0; half < 2 * limbs && most_free < 32; ++half) {
        const std::size_t inside = bits - std::min(bits, 32 * half);  // from here on
        const int shift = half % 2 == 0 ? 32 : 0;
        const auto masked = static_cast<std::uint32_t>(mask[half / 2] >> shift);
        const auto free = static_cast<unsigned>(std::min<std::size_t>(32, inside)) -
                          static_cast<unsigned>(std::popcount(masked));
        if (half != 0 && free <= most_free) continue;
        most_free = free;
        tag_limb_ = static_cast<std::uint32_t>(half / 2);
        tag_shift_ = shift;
    }
}

std::vector<MaskKey> mask_keys(const std::uint64_t* masks, std::size_t count, std::size_t limbs,
                               std::size_t bits) {
    std::vector<MaskKey> keys;
    keys.reserve(count);
    for (std::size_t mask = 0; mask < count; ++mask)
        keys.emplace_back(masks + mask * limbs, limbs, bits);
    return keys;
}

}  // namespace neardup
