// Numbers in ascending order, to which any can be added and from which any can be taken.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace neardup {

// Kept in runs of at most `kMostInRun`, so that a change moves some kilobytes at most.
class SortedNumbers {
  public:
    // The number must not be there yet.
    void add(std::uint64_t number);
    // False if it was not there.
    bool remove(std::uint64_t number);

    std::size_t size() const { return size_; }
    std::uint64_t first() const { return runs_.front().front(); }
    std::size_t bytes() const;

    // Tell of the lowest `most` numbers.
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
