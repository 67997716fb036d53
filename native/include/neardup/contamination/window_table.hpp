// Where windows of words begin in the words of a benchmark, and which windows of a document do.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "neardup/contamination/window_hash.hpp"
#include "neardup/room.hpp"

namespace neardup {

// In front of the table is a filter, which knows the windows and also the shorter runs of words in
// them, the anchors. Every window of a document has exactly one anchor that begins at a multiple of
// `step`, so it is enough to ask for one anchor in `step` words, and then for the windows around
// those that the filter knows. Questions are asked many at a time, so that the memory they need is
// on its way while others are answered.
class WindowTable {
  public:
    // Words of a window.
    explicit WindowTable(std::uint32_t size)
        : size_(size),
          step_(size - std::min(size - size / 2 + 1, std::min(size, kMostAnchor)) + 1),
          hash_(size),
          anchor_hash_(size - step_ + 1) {}

    std::uint32_t size() const { return size_; }
    bool empty() const { return positions_.empty(); }
    std::size_t bytes() const;

    // Fill the table. `each(take)` calls take(position, hash) for every window, by ascending
    // position, the same whenever it is called. `keep(group)` gets the positions of equal windows,
    // ascending; it may put them in another order, and returns how many stay, the first ones.
    template <typename Each, typename Keep>
    void build(std::span<const std::uint64_t> words, const Each& each, const Keep& keep) {
        std::size_t count = 0;
        each([&](std::uint32_t, std::uint64_t) { ++count; });
        if (count == 0) return;
        start(count);
        each([&](std::uint32_t, std::uint64_t hash) { ++begins_[bucket(hash) + 1]; });
        place_buckets();
        each([&](std::uint32_t position, std::uint64_t hash) { put(position, hash); });
        std::uint32_t from = 0, to = 0;
        for (std::size_t b = 0; b + 1 < begins_.size(); ++b) {
            const std::uint32_t end = begins_[b];  // put() has moved it to the end
            sort_bucket(words, from, end);
            begins_[b] = to;
            for (std::uint32_t first = from; first < end;) {
                const std::uint32_t last = group_end(words, first, end);
                const auto kept = static_cast<std::uint32_t>(
                    keep(std::span<std::uint32_t>(&positions_[first], last - first)));
                for (std::uint32_t i = first; i < first + kept; ++i, ++to) {
                    positions_[to] = positions_[i];
                    tags_[to] = tags_[i];
                }
                first = last;
            }
            from = end;
        }
        begins_.back() = to;
        finish(to);
        std::uint64_t done = 0;  // anchors before this one are in the filter
        each([&](std::uint32_t position, std::uint64_t hash) {
            if (entry(hash) == kNone) return;
            add_to_filter(hash);
            done = std::max<std::uint64_t>(done, position);
            for (; done < std::uint64_t{position} + step_; ++done)
                add_to_filter(anchor_hash_.of(&words[done]));
        });
    }

    // Call take(i, hash) for each window of a text; i is its first word.
    template <typename Take>
    void windows(const std::uint64_t* words, std::size_t count, const Take& take) const {
        hash_.roll(words, count, take);
    }

    // Call found(i, entry) for the windows of a text that may be in the table, by ascending i: the
    // first word of the window. `entry` is the first place in the table that may be it.
    template <typename Found>
    void look_up(const std::uint64_t* words, std::size_t count, const Found& found) const {
        if (count < size_ || empty()) return;
        const std::size_t last = count - (size_ - step_ + 1);  // where the last anchor begins
        Questions anchors, windows;
        for (std::size_t begin = 0; begin <= last; begin += kAtOnce * step_) {
            const std::size_t some = std::min(kAtOnce, (last - begin) / step_ + 1);
            for (std::size_t i = 0; i < some; ++i)
                ask(anchors, begin + i * step_, anchor_hash_.of(words + begin + i * step_));
            keep_known(anchors);
            for (std::size_t j = 0; j < anchors.count; ++j) {
                const std::size_t anchor = anchors.at[j];
                const std::size_t stop = std::min(anchor, count - size_);
                for (std::size_t i = anchor + 1 < step_ ? 0 : anchor + 1 - step_; i <= stop; ++i) {
                    ask(windows, i, hash_.of(words + i));
                    if (windows.count == kAtOnce) answer(windows, found);
                }
            }
            anchors.count = 0;
        }
        answer(windows, found);
    }

    // Call take(position) for the places from `entry` on where a window has these very words.
    template <typename Take>
    void positions(std::span<const std::uint64_t> words, std::uint32_t entry,
                   const std::uint64_t* window, const Take& take) const {
        // Equal windows are neighbours, in one bucket; others there may have the same tag.
        bool any = false;
        for (std::uint32_t i = entry; i < positions_.size() && tags_[i] == tags_[entry]; ++i) {
            if (same(&words[positions_[i]], window)) {
                take(positions_[i]);
                any = true;
            } else if (any) {
                break;
            }
        }
    }

  private:
    static constexpr std::uint32_t kNone = ~0U;
    static constexpr std::uint32_t kMostAnchor = 8;  // words
    static constexpr std::size_t kAtOnce = 64;
    static constexpr std::size_t kFilterBits = 12;  // for each window and each anchor
    static constexpr std::size_t kBucketSize = 2;
    static constexpr std::uint32_t kFew = 16;  // entries that are sorted in place

    // Hashes that are looked for, and the words of the document where they begin.
    struct Questions {
        std::size_t count = 0;
        std::uint64_t hash[kAtOnce];
        std::size_t at[kAtOnce];
    };

    void ask(Questions& questions, std::size_t at, std::uint64_t hash) const {
        __builtin_prefetch(&filter_.data()[block(hash)]);
        questions.at[questions.count] = at;
        questions.hash[questions.count++] = hash;
    }

    // Leave those that the filter knows. Without a branch: which ones cannot be foreseen.
    void keep_known(Questions& questions) const {
        const std::uint64_t* const filter = filter_.data();
        std::size_t known = 0;
        for (std::size_t i = 0; i < questions.count; ++i) {
            const std::uint64_t hash = questions.hash[i], wanted = bits(hash);
            questions.at[known] = questions.at[i];
            questions.hash[known] = hash;
            known += (filter[block(hash)] & wanted) == wanted;
        }
        questions.count = known;
    }

    template <typename Found>
    void answer(Questions& windows, const Found& found) const {
        keep_known(windows);
        for (std::size_t i = 0; i < windows.count; ++i)
            __builtin_prefetch(&begins_[bucket(windows.hash[i])]);
        for (std::size_t i = 0; i < windows.count; ++i) {
            const std::uint32_t first = begins_[bucket(windows.hash[i])];
            __builtin_prefetch(tags_.data() + first);
            __builtin_prefetch(positions_.data() + first);
        }
        for (std::size_t i = 0; i < windows.count; ++i) {
            const std::uint32_t place = entry(windows.hash[i]);
            if (place != kNone) found(windows.at[i], place);
        }
        windows.count = 0;
    }

    void add_to_filter(std::uint64_t hash) { filter_.data()[block(hash)] |= bits(hash); }

    // `count` is below 2^32, so the upper half of a hash chooses evenly.
    static std::size_t scaled(std::uint64_t hash, std::size_t count) {
        return static_cast<std::size_t>((hash >> 32) * count >> 32);
    }
    std::size_t bucket(std::uint64_t hash) const { return scaled(hash, begins_.size() - 1); }
    std::size_t block(std::uint64_t hash) const { return scaled(hash, blocks_); }
    static std::uint64_t bits(std::uint64_t hash) {
        return 1ULL << (hash & 63) | 1ULL << (hash >> 6 & 63) | 1ULL << (hash >> 12 & 63);
    }
    static std::uint16_t tag(std::uint64_t hash) { return static_cast<std::uint16_t>(hash); }

    // The first entry that may be a window of this hash; kNone if there is none.
    std::uint32_t entry(std::uint64_t hash) const {
        const std::size_t b = bucket(hash);
        for (std::uint32_t i = begins_[b]; i < begins_[b + 1]; ++i)
            if (tags_[i] == tag(hash)) return i;
        return kNone;
    }

    bool same(const std::uint64_t* one, const std::uint64_t* other) const {
        return std::equal(one, one + size_, other);
    }

    void start(std::size_t count);
    void place_buckets();
    void put(std::uint32_t position, std::uint64_t hash);
    void sort_bucket(std::span<const std::uint64_t> words, std::uint32_t begin, std::uint32_t end);
    std::uint32_t group_end(std::span<const std::uint64_t> words, std::uint32_t first,
                            std::uint32_t end) const;
    void finish(std::uint32_t kept);

    std::uint32_t size_, step_;
    WindowHash hash_, anchor_hash_;
    Room<std::uint64_t> filter_;  // in large pages: each question goes to another one
    std::size_t blocks_ = 0;
    std::vector<std::uint32_t> begins_;     // of the buckets, and the end
    std::vector<std::uint32_t> positions_;  // in the order of buckets, equal windows side by side
    std::vector<std::uint16_t> tags_;       // of the windows there
};

}  // namespace neardup
