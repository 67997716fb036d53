// Sets of document numbers: one that says which are there, and one that keeps them in order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace neardup {

// Takes 0.3 to 0.7 bytes a number where they are dense, up to 43 where they are scattered.
class NumberSet {
  public:
    // False if it was present already.
    bool insert(std::uint64_t number);
    // False if it was not present.
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

// Numbers in ascending order, in runs of at most `kMostInRun`, so that adding or removing one moves
// a few kilobytes at most.
class SortedNumbers {
  public:
    // The number must not be present yet.
    void add(std::uint64_t number);
    // False if it was not present.
    bool remove(std::uint64_t number);

    std::size_t size() const { return size_; }
    std::uint64_t first() const { return runs_.front().front(); }
    std::size_t bytes() const;

    // Pass the lowest `most` numbers to `take`.
    template <typename Take>
    void each(std::size_t most, const Take& take) const {
        for (const std::vector<std::uint64_t>& run : runs_) {
            const std::size_t some = std::min(most, run.size());
            for (std::size_t i = 0; i < some; ++i) take(run[i]);
            if ((most -= some) == 0) return;
        }
    }

  private:
    static constexpr std::size_t kMostInRun = 1024;

    // The first run that does not end before the number.
    std::size_t run_of(std::uint64_t number) const;

    std::vector<std::vector<std::uint64_t>> runs_;  // none empty
    std::size_t size_ = 0;
};

}  // namespace neardup
