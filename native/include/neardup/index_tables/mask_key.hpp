// A mask of a plan: the key that rows which agree on it share, and a tag that tells other rows
// apart.
//
// Keys and tags are part of the format of segments, which kernels/segment_format.py describes.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace neardup {

inline constexpr std::uint64_t kKeyFactor = 0x9E3779B97F4A7C15ULL;
inline constexpr std::uint64_t kTagFactor = 0xD6E8FEB86659FD93ULL;

class MaskKey {
  public:
    MaskKey(const std::uint64_t* mask, std::size_t limbs, std::size_t bits);

    // The masked bits, packed and folded; the topmost bits tell rows apart best.
    std::uint64_t key(const std::uint64_t* row) const {
        std::uint64_t key = 0;
        std::size_t run = 0;
        for (const std::uint32_t end : piece_ends_) {
            std::uint64_t piece = 0;
            for (; run < end; ++run)
                piece |= std::rotl(row[runs_[run].limb], runs_[run].turn) & runs_[run].bits;
            key = (key ^ key >> 32 ^ piece) * kKeyFactor;
        }
        return key;
    }

    // A hash of the key in the `exact` bits, and some bits of the row in the others. For rows that
    // agree on the mask, tags are equal in the exact bits and differ in no more bits than the rows
    // do.
    std::uint32_t tag(const std::uint64_t* row, std::uint64_t key) const {
        const auto hash = static_cast<std::uint32_t>((key ^ key >> 32) * kTagFactor >> 32);
        const auto some = static_cast<std::uint32_t>(row[tag_limb_] >> tag_shift_);
        return (hash & exact_) | (some & ~exact_);
    }
    std::uint32_t exact() const { return exact_; }

    bool agree(const std::uint64_t* x, const std::uint64_t* y) const {
        for (const Part& part : parts_)
            if (((x[part.limb] ^ y[part.limb]) & part.bits) != 0) return false;
        return true;
    }

    // The number of bits of the mask.
    unsigned size() const { return size_; }

  private:
    struct Part {
        std::uint32_t limb;
        std::uint64_t bits;
    };
    // Bits of a limb on their way to their place in a piece of 64.
    struct Run {
        std::uint32_t limb;
        int turn;
        std::uint64_t bits;  // after the turn
    };

    std::vector<Part> parts_;
    std::vector<Run> runs_;
    std::vector<std::uint32_t> piece_ends_;  // in runs
    unsigned size_ = 0;
    std::uint32_t exact_;
    std::uint32_t tag_limb_ = 0;
    int tag_shift_ = 0;
};

std::vector<MaskKey> mask_keys(const std::uint64_t* masks, std::size_t count, std::size_t limbs,
                               std::size_t bits);

// The bucket of a key among 2^depth.
inline std::size_t bucket_of(std::uint64_t key, unsigned depth) {
    return depth == 0 ? 0 : static_cast<std::size_t>(key >> (64 - depth));
}

}  // namespace neardup
