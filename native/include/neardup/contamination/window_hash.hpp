// The hashes of windows of words, from the hashes of the words.
#pragma once

#include <cstddef>
#include <cstdint>

#include "neardup/process_seed.hpp"

namespace neardup {

// A polynomial over the hashes of the words of a window, modulo 2^64. It is only an address: what
// is found by it is compared word by word.
class WindowHash {
  public:
    explicit WindowHash(std::size_t size) : size_(size) {
        for (std::size_t i = 0; i < size; ++i) leaving_ *= kBase;
    }

    std::uint64_t of(const std::uint64_t* words) const { return seed_.mix(sum(words)); }

    // Call take(i, hash) for each window of a text; i is its first word.
    template <typename Take>
    void roll(const std::uint64_t* words, std::size_t count, const Take& take) const {
        if (count < size_) return;
        std::uint64_t total = sum(words);
        take(std::size_t{0}, seed_.mix(total));
        for (std::size_t i = 1; i + size_ <= count; ++i) {
            total = total * kBase + (words[i + size_ - 1] - words[i - 1] * leaving_);
            take(i, seed_.mix(total));
        }
    }

  private:
    static constexpr std::uint64_t kBase = 0x9FB21C651E98DF25ULL;

    std::uint64_t sum(const std::uint64_t* words) const {
        std::uint64_t total = 0;
        for (std::size_t i = 0; i < size_; ++i) total = total * kBase + words[i];
        return total;
    }

    std::size_t size_;
    std::uint64_t leaving_ = 1;
    ProcessSeed seed_ = process_seed();
};

}  // namespace neardup
