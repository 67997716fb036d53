// The number of pairs that a join may find, over all threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>

namespace neardup {

class TooManyPairs : public std::exception {
  public:
    const char* what() const noexcept override { return "a join finds more pairs than it may"; }
};

inline constexpr std::uint64_t kAnyNumber = ~std::uint64_t{0};

// Whether a join fails depends on the number of pairs alone, not on how threads share the work.
class PairLimit {
  public:
    PairLimit(std::uint64_t most, std::size_t workers)
        : most_(most), unlimited_(most > kLargest), left_(first_left(most, workers)) {}

    // One worker's part of the remaining pairs, taken in portions.
    class Share {
      public:
        explicit Share(PairLimit& limit) : limit_(limit) {}

        // Make room for one more pair; throws TooManyPairs if there is none.
        void take_one() {
            if (left_ == 0) left_ = limit_.take_some();
            --left_;
        }

      private:
        PairLimit& limit_;
        std::uint64_t left_ = 0;
    };

    // Call this when all pairs are found: workers may have gone slightly past the limit.
    void check(std::uint64_t found) const {
        if (found > most_) throw TooManyPairs();
    }

  private:
    static constexpr std::uint64_t kSome = 1024, kLargest = std::uint64_t{1} << 62;

    static std::int64_t first_left(std::uint64_t most, std::size_t workers) {
        return most > kLargest ? 0 : static_cast<std::int64_t>(most + workers * kSome);
    }

    std::uint64_t take_some() {
        if (unlimited_) return kLargest;
        if (left_.fetch_sub(kSome, std::memory_order_relaxed) < static_cast<std::int64_t>(kSome))
            throw TooManyPairs();
        return kSome;
    }

    const std::uint64_t most_;
    const bool unlimited_;
    std::atomic<std::int64_t> left_;
};

}  // namespace neardup
