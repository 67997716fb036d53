#include <algorithm>
#include <bit>
#include <utility>

#include "neardup/parallel.hpp"
#include "neardup/process_seed.hpp"
#include "neardup/set_join/ranked.hpp"

namespace neardup {

namespace {

// Hashes go into parts that fit a cache; equal ones meet in the same part.
constexpr std::size_t kPartSize = 1 << 13;
constexpr int kMostPartBits = 12;

struct Entry {
    std::uint64_t hash;
    std::uint32_t at;
};

class Parts {
  public:
    Parts(const std::uint64_t* hashes, std::size_t count, std::size_t threads);

    std::size_t count() const { return std::size_t{1} << bits_; }
    std::size_t part_of(std::uint64_t hash) const {
        return hash * 0xD6E8FEB86659FD93ULL >> 32 >> (32 - bits_);
    }

    // Number the hashes of a part in the order of their coming; how often each came.
    std::vector<std::uint32_t> number(std::size_t part, std::vector<std::uint32_t>& slots,
                                      std::uint32_t* numbers) const;

  private:
    int bits_;
    Room<Entry> entries_;
    std::vector<std::size_t> starts_;
};

Parts::Parts(const std::uint64_t* hashes, std::size_t count, std::size_t threads)
    : bits_(std::min(kMostPartBits, static_cast<int>(std::bit_width(count / kPartSize)))) {
    Entry* entries = entries_.at_least(count);
    const std::size_t parts = this->count();
    std::vector<std::size_t> next(parts * threads);
    const auto each_share = [&](const auto& work) {
        parallel_tasks(threads, threads, [&](const auto& next_share) {
            for (std::size_t i = next_share(); i < threads; i = next_share())
                work(count * i / threads, count * (i + 1) / threads, next.data() + i * parts);
        });
    };
    each_share([&](std::size_t first, std::size_t last, std::size_t* counts) {
        for (std::size_t i = first; i < last; ++i) ++counts[part_of(hashes[i])];
    });
    std::size_t sum = 0;
    for (std::size_t part = 0; part < parts; ++part) {
        starts_.push_back(sum);
        for (std::size_t share = 0; share < threads; ++share)
            sum += std::exchange(next[share * parts + part], sum);
    }
    starts_.push_back(sum);
    each_share([&](std::size_t first, std::size_t last, std::size_t* to) {
        for (std::size_t i = first; i < last; ++i)
            entries[to[part_of(hashes[i])]++] = {hashes[i], static_cast<std::uint32_t>(i)};
    });
}

std::vector<std::uint32_t> Parts::number(std::size_t part, std::vector<std::uint32_t>& slots,
                                         std::uint32_t* numbers) const {
    const Entry *first = entries_.data() + starts_[part],
                *last = entries_.data() + starts_[part + 1];
    const std::size_t room = std::bit_ceil(2 * static_cast<std::size_t>(last - first) + 1);
    slots.assign(room, 0);
    std::vector<std::uint32_t> counts;
    std::vector<std::uint64_t> hashes;
    const ProcessSeed seed = process_seed();  // words cannot be chosen to crowd the slots
    for (const Entry* entry = first; entry != last; ++entry) {
        std::size_t slot = seed.mix(entry->hash) >> 32 & (room - 1);
        while (slots[slot] != 0 && hashes[slots[slot] - 1] != entry->hash)
            slot = (slot + 1) & (room - 1);
        if (slots[slot] == 0) {
            hashes.push_back(entry->hash);
            counts.push_back(0);
            slots[slot] = static_cast<std::uint32_t>(hashes.size());
        }
        numbers[entry->at] = slots[slot] - 1;
        ++counts[slots[slot] - 1];
    }
    return counts;
}

// In place of how often each came, the rank from the rarest; what `rank_features` returns.
std::vector<std::uint32_t> counts_to_ranks(std::vector<std::vector<std::uint32_t>>& counts) {
    std::vector<std::uint32_t> next;
    for (const auto& part : counts)
        for (const std::uint32_t count : part) {
            if (count >= next.size()) next.resize(count + 1);
            ++next[count];
        }
    std::uint64_t total = 0, before = 0;
    for (std::uint64_t count = 2; count < next.size(); ++count) total += count * next[count];
    std::vector<std::uint32_t> spread;
    for (std::uint64_t count = 2; count < next.size(); ++count) {
        const std::size_t first = spread.size();
        for (; next[count] != 0; --next[count]) {
            spread.push_back(static_cast<std::uint32_t>((before << 32) / total));
            before += count;
        }
        next[count] = static_cast<std::uint32_t>(first);
    }
    for (auto& part : counts)
        for (std::uint32_t& count : part) count = count == 1 ? kAlone : next[count]++;
    return spread;
}

}  // namespace

std::vector<std::uint32_t> rank_features(const std::uint64_t* hashes, std::size_t count,
                                         std::size_t threads, std::uint32_t* ranks) {
    std::vector<std::vector<std::uint32_t>> rank_of;
    const Parts parts(hashes, count, threads);
    rank_of.resize(parts.count());
    parallel_tasks(parts.count(), threads, [&](const auto& next) {
        std::vector<std::uint32_t> slots;
        for (std::size_t part = next(); part < parts.count(); part = next())
            rank_of[part] = parts.number(part, slots, ranks);
    });
    std::vector<std::uint32_t> spread = counts_to_ranks(rank_of);
    for (std::size_t i = 0; i < count; ++i) ranks[i] = rank_of[parts.part_of(hashes[i])][ranks[i]];
    return spread;
}

}  // namespace neardup
