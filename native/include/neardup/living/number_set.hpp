// A set of numbers: 0.3 to 0.7 bytes each where they are dense, up to 43 where scattered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace neardup {

class NumberSet {
  public:
    // False if it was there already.
    bool insert(std::uint64_t number);
    // False if it was not there.
    bool erase(std::uint64_t number);

    std::size_t size() const { return size_; }
    std::size_t bytes() const { return slots_.capacity() * sizeof(Slot); }

  private:
    // Sixty-four neighbours.
    struct Slot {
        std::uint64_t page;  // number / 64 + 1; 0: free
        std::uint64_t bits;
    };

    // The slot of a page, or the free one where it would be.
    Slot& slot_of(std::uint64_t page);
    void grow();

    std::vector<Slot> slots_;
    std::size_t pages_ = 0, size_ = 0;
};

}  // namespace neardup
