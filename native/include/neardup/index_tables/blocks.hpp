// Values of one size in blocks of about 2 MB that never move, so that growing copies nothing.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "neardup/aligned_memory.hpp"

namespace neardup {

template <typename T>
class Blocks {
  public:
    // Each value is `width` T long.
    explicit Blocks(std::size_t width = 1)
        : width_(width),
          shift_(static_cast<unsigned>(std::bit_width(kBlockBytes / (width * sizeof(T))) - 1)),
          last_((std::size_t{1} << shift_) - 1) {}

    T* at(std::size_t i) { return blocks_[i >> shift_].get() + (i & last_) * width_; }
    const T* at(std::size_t i) const { return blocks_[i >> shift_].get() + (i & last_) * width_; }

    // Room for the values below `count`; new ones are whatever was in memory.
    void reserve(std::size_t count) {
        while (blocks_.size() << shift_ < count) add_block();
        if (count > used_) used_ = count;
    }

    // The size of the values reserved so far.
    std::size_t bytes() const { return used_ * width_ * sizeof(T); }

  private:
    static constexpr std::size_t kBlockBytes = std::size_t{2} << 20;

    struct Free {
        void operator()(T* memory) const { free_aligned(memory); }
    };

    void add_block() {
        auto* memory = static_cast<T*>(aligned_memory(kBlockBytes, kBlockBytes));
        blocks_.emplace_back(memory);
#if defined(__linux__)
        // Random reads of small pages would miss the TLB; a first block alone is too small to
        // matter.
        if (blocks_.size() > 1) madvise(memory, kBlockBytes, MADV_HUGEPAGE);
#endif
    }

    std::size_t width_;
    unsigned shift_;
    std::size_t last_;
    std::vector<std::unique_ptr<T, Free>> blocks_;
    std::size_t used_ = 0;
};

}  // namespace neardup
