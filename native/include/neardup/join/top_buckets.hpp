// All rows of a join in buckets by their first digit, by several threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "../parallel.hpp"
#include "partition.hpp"

namespace neardup {

// A thread is not worth starting for fewer rows.
inline constexpr std::size_t kThreadRows = 4096;

inline std::size_t useful_threads(std::size_t threads, std::size_t rows) {
    return std::clamp<std::size_t>(threads, 1, 1 + rows / kThreadRows);
}

// Filled once for each block, in the same room.
class TopBuckets {
  public:
    // Each thread takes a stretch of the rows and writes it behind those of the stretches before,
    // so that buckets keep the order of the rows.
    template <typename Source>
    void fill(const Source& source, std::size_t count, Digit digit, std::size_t threads) {
        const std::size_t parts = threads, buckets = digit.buckets();
        std::vector<std::uint32_t> next(parts * buckets);
        const auto from = [&](std::size_t part) { return part * count / parts; };
        const auto each_part = [&](const auto& work) {
            parallel_tasks(parts, threads, [&](const auto& next_part) {
                for (std::size_t part = next_part(); part < parts; part = next_part())
                    work(from(part), from(part + 1), &next[part * buckets]);
            });
        };
        each_part([&](std::size_t first, std::size_t last, std::uint32_t* counts) {
            count_digits(source, first, last, digit, counts);
        });
        starts_.assign(1, 0);
        std::uint32_t sum = 0;
        for (std::size_t bucket = 0; bucket < buckets; ++bucket) {
            for (std::size_t part = 0; part < parts; ++part)
                sum += std::exchange(next[part * buckets + bucket], sum);
            starts_.push_back(sum);
        }
        room_.make(count);
        each_part([&](std::size_t first, std::size_t last, std::uint32_t* to) {
            scatter(source, first, last, digit, to, room_.values.data(), room_.places.data());
        });
    }

    Items bucket(std::size_t bucket) const {
        return {room_.values.data() + starts_[bucket], room_.places.data() + starts_[bucket],
                size(bucket)};
    }

    // The buckets of at least so many rows, the largest first, so that no thread begins it last.
    std::vector<std::size_t> by_size(std::size_t least) const {
        std::vector<std::size_t> order;
        for (std::size_t bucket = 0; bucket + 1 < starts_.size(); ++bucket)
            if (size(bucket) >= least) order.push_back(bucket);
        std::stable_sort(order.begin(), order.end(),
                         [&](std::size_t x, std::size_t y) { return size(x) > size(y); });
        return order;
    }

  private:
    std::size_t size(std::size_t bucket) const { return starts_[bucket + 1] - starts_[bucket]; }

    ItemRoom room_;
    std::vector<std::uint32_t> starts_;
};

}  // namespace neardup
