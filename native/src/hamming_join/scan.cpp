#include <algorithm>

#include "neardup/hamming_join/join.hpp"
#include "neardup/parallel.hpp"
#include "neardup/room.hpp"

namespace neardup {

namespace {

// Rows per task: few enough to balance threads, enough to pay for transposing tiles.
constexpr std::size_t kTaskRows = 256;

// Compares stretches of rows with all the rows they must be compared with.
class Scanner {
  public:
    Scanner(const Sides& sides, const std::int64_t* stops, std::uint32_t most,
            const HammingKernels& kernels, PairLimit& limit)
        : sides_(sides), stops_(stops), most_(most), kernels_(kernels), share_(limit) {}

    std::vector<FoundPair> scan(std::size_t first, std::size_t last) {
        std::vector<FoundPair> found;
        struct Context {
            PairLimit::Share& share;
            std::vector<FoundPair>& found;
        } context{share_, found};
        const OnPair on_pair{[](void* held, std::size_t i, std::size_t j, std::uint32_t distance) {
                                 const auto& [share, pairs] = *static_cast<Context*>(held);
                                 share.take_one();
                                 pairs.emplace_back(i, j, distance);
                             },
                             &context};
        const std::size_t end = stop(last - 1);
        for (std::size_t start = after(first); start < end; start += kTileRows) {
            const std::size_t tile_end = std::min(start + kTileRows, end);
            const Tile tile = turned(start, tile_end);
            for (std::size_t i = first; i < last; ++i) {
                const std::size_t from = std::max(after(i), start),
                                  to = std::min(stop(i), tile_end);
                if (from < to)
                    kernels_.compare_tile(sides_.row(i), i, tile, from, to, most_, on_pair);
            }
        }
        sort_pairs(found);
        return found;
    }

  private:
    // The rows to compare row i with are [after(i), stop(i)), counted on their own side.
    std::size_t after(std::size_t i) const { return sides_.two ? 0 : i + 1; }
    std::size_t stop(std::size_t i) const {
        if (sides_.two) return sides_.right_count;
        return stops_ == nullptr ? sides_.left_count : static_cast<std::size_t>(stops_[i]);
    }

    Tile turned(std::size_t start, std::size_t end) {
        const std::size_t limbs = sides_.limbs;
        const std::uint64_t* rows = (sides_.two ? sides_.right : sides_.left) + start * limbs;
        if (limbs == 1) return {rows, 0, 1, start};
        std::uint64_t* room = room_.at_least(kTileRows * limbs);
        for (std::size_t i = 0; i < end - start; ++i)
            for (std::size_t limb = 0; limb < limbs; ++limb)
                room[limb * kTileRows + i] = rows[i * limbs + limb];
        return {room, kTileRows, limbs, start};
    }

    const Sides& sides_;
    const std::int64_t* stops_;
    std::uint32_t most_;
    const HammingKernels& kernels_;
    Room<std::uint64_t> room_;
    PairLimit::Share share_;
};

}  // namespace

std::vector<FoundPair> scan_pairs(const Sides& sides, const std::int64_t* stops, std::uint32_t most,
                                  std::size_t threads, const HammingKernels& kernels,
                                  std::uint64_t most_pairs) {
    const std::size_t tasks = (sides.left_count + kTaskRows - 1) / kTaskRows;
    std::vector<std::vector<FoundPair>> parts(tasks);
    PairLimit limit(most_pairs, threads);
    parallel_tasks(tasks, threads, [&](const auto& next) {
        Scanner scanner(sides, stops, most, kernels, limit);
        for (std::size_t task = next(); task < tasks; task = next())
            parts[task] =
                scanner.scan(task * kTaskRows, std::min((task + 1) * kTaskRows, sides.left_count));
    });
    if (tasks == 0) return {};
    std::uint64_t found = 0;
    for (const auto& part : parts) found += part.size();
    limit.check(found);
    return gather_pairs(parts);
}

}  // namespace neardup
