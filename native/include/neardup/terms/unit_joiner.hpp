// One text → its units, joined so that every shingle is a stretch of bytes: words by single spaces,
// or the code points of the folded text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "neardup/buffer.hpp"
#include "neardup/terms/kernels.hpp"

namespace neardup {

// Bytes that grow at their end, followed by at least 16 that can be read.
class Arena {
  public:
    Arena() = default;
    Arena(Arena&& other) noexcept : size_(other.size_) { bytes_.swap(other.bytes_); }

    std::size_t size() const { return size_; }
    const std::uint8_t* data() { return bytes_.data(); }

    // Memory for `more` bytes behind the last one.
    std::uint8_t* room(std::size_t more) { return bytes_.reserve(size_ + more + kPadding) + size_; }
    void take(std::size_t more) { size_ += more; }
    void cut_to(std::size_t size) { size_ = size; }

  private:
    static constexpr std::size_t kPadding = 64;

    portable::Buffer<std::uint8_t> bytes_;
    std::size_t size_ = 0;
};

class UnitJoiner {
  public:
    explicit UnitJoiner(const TermKernels& kernels) : cutter_(kernels.new_word_cutter()) {}

    // Append the units of a text to `arena` and return how many they are. The shingle of the units
    // from i to below j is the stretch from starts()[i] to starts()[j] - gap, counted from where
    // the arena ended before; the gap is 1 for words, which end with a space, and 0 for characters.
    std::size_t words(const std::uint8_t* text, std::size_t size, Arena& arena);
    std::size_t characters(const std::uint8_t* text, std::size_t size, Arena& arena);

    const std::uint32_t* starts() { return starts_.data(); }

  private:
    std::unique_ptr<WordCutter> cutter_;
    portable::Buffer<std::uint32_t> starts_;
};

// Where a piece of text that begins at `begin` ends: at most at `size`, and where no word runs on.
// Pieces stay in cache, and bound the memory that cutting a large text takes.
std::size_t piece_end(const std::uint8_t* text, std::size_t begin, std::size_t size);

}  // namespace neardup
