#include "neardup/contamination/window_table.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace neardup {

void WindowTable::start(std::size_t count) {
    if (count >= kNone) throw std::length_error("a benchmark has more than 2^32 words");
    begins_.assign(count / kBucketSize + 2, 0);
    positions_.resize(count);
    tags_.resize(count);
}

void WindowTable::place_buckets() {
    std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
}

// Each bucket is filled from its begin on, which moves to its end.
void WindowTable::put(std::uint32_t position, std::uint64_t hash) {
    const std::uint32_t to = begins_[bucket(hash)]++;
    positions_[to] = position;
    tags_[to] = tag(hash);
}

void WindowTable::sort_bucket(std::span<const std::uint64_t> words, std::uint32_t begin,
                              std::uint32_t end) {
    using Entry = std::pair<std::uint16_t, std::uint32_t>;
    const auto before = [&](const Entry& one, const Entry& other) {
        if (one.first != other.first) return one.first < other.first;
        const std::uint64_t *const first = &words[one.second], *const last = first + size_;
        const auto [a, b] = std::mismatch(first, last, &words[other.second]);
        return a != last ? *a < *b : one.second < other.second;
    };
    if (end - begin <= kFew) {
        for (std::uint32_t i = begin + 1; i < end; ++i) {
            const Entry entry{tags_[i], positions_[i]};
            std::uint32_t to = i;
            for (; to > begin && before(entry, {tags_[to - 1], positions_[to - 1]}); --to)
                std::tie(tags_[to], positions_[to]) = Entry{tags_[to - 1], positions_[to - 1]};
            std::tie(tags_[to], positions_[to]) = entry;
        }
        return;
    }
    std::vector<Entry> entries;
    for (std::uint32_t i = begin; i < end; ++i) entries.emplace_back(tags_[i], positions_[i]);
    std::sort(entries.begin(), entries.end(), before);
    for (std::uint32_t i = begin; i < end; ++i)
        std::tie(tags_[i], positions_[i]) = entries[i - begin];
}

std::uint32_t WindowTable::group_end(std::span<const std::uint64_t> words, std::uint32_t first,
                                     std::uint32_t end) const {
    std::uint32_t last = first + 1;
    while (last < end && tags_[last] == tags_[first] &&
           same(&words[positions_[last]], &words[positions_[first]]))
        ++last;
    return last;
}

void WindowTable::finish(std::uint32_t kept) {
    positions_.resize(kept);
    tags_.resize(kept);
    positions_.shrink_to_fit();
    tags_.shrink_to_fit();
    blocks_ = 2 * kept * kFilterBits / 64 + 1;
    std::fill_n(filter_.at_least(blocks_), blocks_, 0);
}

std::size_t WindowTable::bytes() const {
    return blocks_ * 8 + begins_.capacity() * 4 + positions_.capacity() * 4 + tags_.capacity() * 2;
}

}  // namespace neardup
