#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <mutex>
#include <numeric>

#include "neardup/hamming_join/join.hpp"
#include "neardup/hamming_join/partition.hpp"
#include "neardup/parallel.hpp"

namespace neardup {

namespace {

constexpr std::size_t kFewRows = 16;

// The first row equal to each, made when the first repeated row is found.
class Firsts {
  public:
    explicit Firsts(std::size_t count) : count_(count) {}

    // Ready to be written, by all threads.
    std::uint32_t* made() {
        std::call_once(made_, [&] {
            places_.resize(count_);
            std::iota(places_.begin(), places_.end(), 0U);
        });
        return places_.data();
    }

    std::vector<std::uint32_t> take() { return std::move(places_); }

  private:
    std::size_t count_;
    std::once_flag made_;
    std::vector<std::uint32_t> places_;
};

// Slots by a hash, two bits each: whether a row fell into it, and whether another one did.
class SharedSlots {
  public:
    void clear_for(std::size_t rows, unsigned used) {
        // At least eight slots a row: one row in nine meets another by chance.
        const auto width = static_cast<unsigned>(std::bit_width(8 * rows));
        skipped_ = used;
        shift_ = 64 - width;
        const std::size_t words = (std::size_t{1} << width) / kSlots + 1;
        std::fill_n(words_.at_least(words), words, 0);
    }

    void add(std::uint64_t hash) {
        const std::uint64_t slot = hash << skipped_ >> shift_;
        std::uint64_t& word = words_.data()[slot / kSlots];
        const std::uint64_t place = 2 * (slot % kSlots), seen = word >> place & 1;
        word |= (1 | seen << 1) << place;
    }

    // 1 where several rows fell into the slot of this one, else 0.
    std::size_t shared(std::uint64_t hash) const {
        const std::uint64_t slot = hash << skipped_ >> shift_;
        return words_.data()[slot / kSlots] >> (2 * (slot % kSlots) + 1) & 1;
    }

  private:
    static constexpr std::size_t kSlots = 32;  // in a word

    Room<std::uint64_t> words_;
    unsigned skipped_ = 0, shift_ = 0;
};

// Groups equal rows by a hash, bucket by bucket, until the rows of a bucket are equal or few.
class Grouper {
  public:
    Grouper(const Sides& sides, Firsts& firsts) : sides_(sides), firsts_(firsts) {}

    // Items that agree on `used` bits of the hash, in order of their places. Most rows have a slot
    // of a small table for themselves and so are equal to no other: this takes a third of the time
    // that dividing all of them would.
    void group(const Items& items, unsigned used) {
        const bool divides = items.count > kFewRows && !all_equal(items);
        group_below(divides ? in_shared_slots(items, used) : items, used, 0);
    }

  private:
    void group_below(const Items& items, unsigned used, std::size_t level) {
        if (items.count < 2) return;
        if (all_equal(items)) {
            std::uint32_t* firsts = firsts_.made();
            for (std::size_t i = 1; i < items.count; ++i) firsts[items.places[i]] = items.places[0];
        } else if (items.count <= kFewRows) {
            group_few(items);
        } else if (used == 64) {
            group_sorted(items);
        } else {
            divide(items, used, level);
        }
    }

    Items in_shared_slots(const Items& items, unsigned used) {
        slots_.clear_for(items.count, used);
        for (std::size_t i = 0; i < items.count; ++i) slots_.add(items.values[i]);
        shared_.make(items.count);
        std::uint64_t* values = shared_.values.data();
        std::uint32_t* places = shared_.places.data();
        std::size_t count = 0;
        for (std::size_t i = 0; i < items.count; ++i) {
            values[count] = items.values[i];
            places[count] = items.places[i];
            count += slots_.shared(items.values[i]);
        }
        return {values, places, count};
    }

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
            if (first != i) firsts_.made()[items.places[i]] = items.places[first];
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
        std::uint32_t first = order[0];
        for (std::size_t i = 1; i < order.size(); ++i)
            if (compare(first, order[i]) == 0)
                firsts_.made()[order[i]] = first;
            else
                first = order[i];
    }

    void divide(const Items& items, unsigned used, std::size_t level) {
        while (levels_.size() <= level) levels_.push_back(std::make_unique<ItemRoom>());
        std::uint32_t starts[kMostBuckets + 1];
        const Digit digit = next_digit(items.count, sides_.limbs, used, 64);
        const Items all = partition(KeyedRows{items}, items.count, digit, starts, *levels_[level]);
        for (std::size_t bucket = 0; bucket < digit.buckets(); ++bucket)
            if (starts[bucket] != starts[bucket + 1])
                group_below(all.part(starts[bucket], starts[bucket + 1]), used + digit.bits,
                            level + 1);
    }

    const Sides& sides_;
    Firsts& firsts_;
    SharedSlots slots_;
    ItemRoom shared_;
    std::vector<std::unique_ptr<ItemRoom>> levels_;
};

// A hash of whole rows; for rows of one limb it tells all apart.
struct HashedRows {
    Sides sides;

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
    if (sides.count() == 0) return {};
    threads = useful_threads(threads, sides.count());
    TopBuckets top;
    const Digit digit = next_digit(sides.count(), sides.limbs, 0, 64);
    top.fill(HashedRows{sides}, sides.count(), digit, threads);
    const std::vector<std::size_t> order = top.by_size(2);
    Firsts firsts(sides.count());
    parallel_tasks(order.size(), threads, [&](const auto& next) {
        Grouper grouper(sides, firsts);
        for (std::size_t at = next(); at < order.size(); at = next())
            grouper.group(top.bucket(order[at]), digit.bits);
    });
    return firsts.take();
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
