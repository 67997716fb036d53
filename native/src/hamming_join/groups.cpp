#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <numeric>

#include "neardup/hamming_join/join.hpp"
#include "neardup/hamming_join/partition.hpp"
#include "neardup/parallel.hpp"

namespace neardup {

namespace {

constexpr std::size_t kFewRows = 16;

// Groups equal rows by a hash, bucket by bucket, until the rows of a bucket are equal or few.
class Grouper {
  public:
    Grouper(const Sides& sides, std::uint32_t* firsts) : sides_(sides), firsts_(firsts) {}

    // Items that agree on `used` bits of the hash, in order of their places.
    void group(const Items& items, unsigned used, std::size_t level) {
        if (all_equal(items)) {
            for (std::size_t i = 0; i < items.count; ++i)
                firsts_[items.places[i]] = items.places[0];
        } else if (items.count <= kFewRows) {
            group_few(items);
        } else if (used == 64) {
            group_sorted(items);
        } else {
            divide(items, used, level);
        }
    }

  private:
    bool equal(const Items& items, std::size_t i, std::size_t j) const {
        if (items.values[i] != items.values[j]) return false;
        return sides_.limbs == 1 || std::memcmp(sides_.row(items.places[i]),
                                                sides_.row(items.places[j]), 8 * sides_.limbs) == 0;
    }

    bool all_equal(const Items& items) const {
        for (std::size_t i = 1; i < items.count; ++i)
            if (!equal(items, 0, i)) return false;
        return true;
    }

    void group_few(const Items& items) {
        for (std::size_t i = 0; i < items.count; ++i) {
            std::size_t first = 0;
            while (first < i && !equal(items, first, i)) ++first;
            firsts_[items.places[i]] = items.places[first];
        }
    }

    // Different rows with the same hash: too unlikely for speed to matter.
    void group_sorted(const Items& items) {
        std::vector<std::uint32_t> order(items.places, items.places + items.count);
        const auto compare = [&](std::uint32_t x, std::uint32_t y) {
            return std::memcmp(sides_.row(x), sides_.row(y), 8 * sides_.limbs);
        };
        std::stable_sort(order.begin(), order.end(),
                         [&](std::uint32_t x, std::uint32_t y) { return compare(x, y) < 0; });
        for (std::size_t i = 0; i < order.size(); ++i)
            firsts_[order[i]] =
                i > 0 && compare(order[i - 1], order[i]) == 0 ? firsts_[order[i - 1]] : order[i];
    }

    void divide(const Items& items, unsigned used, std::size_t level) {
        while (levels_.size() <= level) levels_.push_back(std::make_unique<ItemRoom>());
        std::uint32_t starts[kMostBuckets + 1];
        const Digit digit = next_digit(items.count, used, 64);
        const Items all = partition(KeyedRows{items}, items.count, digit, starts, *levels_[level]);
        for (std::size_t bucket = 0; bucket < digit.buckets(); ++bucket)
            if (starts[bucket] != starts[bucket + 1])
                group(all.part(starts[bucket], starts[bucket + 1]), used + digit.bits, level + 1);
    }

    const Sides& sides_;
    std::uint32_t* firsts_;
    std::vector<std::unique_ptr<ItemRoom>> levels_;
};

// A hash of whole rows; for rows of one limb it tells all apart.
struct HashedRows {
    const Sides& sides;

    std::uint64_t value(std::size_t i) const {
        const std::uint64_t* row = sides.row(i);
        std::uint64_t hash = 0;
        for (std::size_t limb = 0; limb < sides.limbs; ++limb) {
            hash = (std::rotl(hash, 29) ^ row[limb]) * 0x9E3779B97F4A7C15ULL;
            hash ^= hash >> 32;
        }
        return hash * 0xD6E8FEB86659FD93ULL;
    }
    std::uint32_t place(std::size_t i) const { return static_cast<std::uint32_t>(i); }
    std::uint64_t key(std::uint64_t value) const { return value; }
};

}  // namespace

std::vector<std::uint32_t> first_equals(const Sides& sides, std::size_t threads) {
    std::vector<std::uint32_t> firsts(sides.count());
    if (firsts.empty()) return firsts;
    threads = useful_threads(threads, sides.count());
    TopBuckets top;
    const Digit digit = next_digit(sides.count(), 0, 64);
    top.fill(HashedRows{sides}, sides.count(), digit, threads);
    const std::vector<std::size_t> order = top.by_size(1);
    parallel_tasks(order.size(), threads, [&](const auto& next) {
        Grouper grouper(sides, firsts.data());
        for (std::size_t at = next(); at < order.size(); at = next())
            grouper.group(top.bucket(order[at]), digit.bits, 0);
    });
    return firsts;
}

Members::Members(const std::int64_t* group_of, std::size_t count, std::size_t groups)
    : starts(groups + 1), places(count) {
    for (std::size_t i = 0; i < count; ++i) ++starts[static_cast<std::size_t>(group_of[i]) + 1];
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    std::vector<std::uint32_t> next(starts.begin(), starts.end() - 1);
    for (std::size_t i = 0; i < count; ++i)
        places[next[static_cast<std::size_t>(group_of[i])]++] = static_cast<std::uint32_t>(i);
}

std::vector<FoundPair> expand_pairs(const std::vector<FoundPair>& pairs, const Members& left,
                                    const Members* right) {
    const Members& others = right == nullptr ? left : *right;
    std::vector<FoundPair> expanded;
    for (const FoundPair& pair : pairs)
        for (std::size_t i = left.starts[pair.a()]; i < left.starts[pair.a() + 1]; ++i)
            for (std::size_t j = others.starts[pair.b()]; j < others.starts[pair.b() + 1]; ++j) {
                std::uint32_t a = left.places[i], b = others.places[j];
                if (right == nullptr && b < a) std::swap(a, b);
                expanded.emplace_back(a, b, pair.distance);
            }
    if (right == nullptr)
        for (std::size_t group = 0; group + 1 < left.starts.size(); ++group)
            for (std::size_t i = left.starts[group]; i < left.starts[group + 1]; ++i)
                for (std::size_t j = i + 1; j < left.starts[group + 1]; ++j)
                    expanded.emplace_back(left.places[i], left.places[j], 0);
    sort_pairs(expanded);
    return expanded;
}

}  // namespace neardup
