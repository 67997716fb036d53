#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>

#include "neardup/index_tables/numbers.hpp"
#include "neardup/index_tables/segment.hpp"

namespace neardup {

SegmentWriter::SegmentWriter(const std::uint64_t* numbers, const std::uint64_t* rows,
                             std::size_t count, const std::uint64_t* masks, std::size_t mask_count,
                             std::size_t bits)
    : numbers_(numbers),
      rows_(rows),
      mask_rows_(masks),
      count_(count),
      mask_count_(mask_count),
      bits_(bits),
      limbs_((bits + 63) / 64),
      masks_(mask_keys(masks, mask_count, limbs_, bits)) {
    NumberSet known;
    for (std::size_t i = 0; i < count; ++i)
        if (!known.insert(numbers[i])) throw std::invalid_argument("a number is there twice");
    items_ = sorted_items();
    starts_ = group_starts();
    layout_ = SegmentLayout(masks_, limbs_, starts_.size() - 1, count);
}

void SegmentWriter::write(std::uint8_t* to) const {
    const std::size_t groups = starts_.size() - 1;
    auto* words = reinterpret_cast<std::uint64_t*>(to);
    auto* plan = words + sizeof(SegmentHead) / 8;
    std::copy_n(mask_rows_, mask_count_ * limbs_, plan);
    auto* row = words + layout_.body / 8;
    for (std::size_t group = 0; group < groups; ++group, row += limbs_)
        std::copy_n(rows_ + items_[starts_[group]].place * limbs_, limbs_, row);
    words[layout_.numbers / 8 - 1] = 0;  // behind the last of the starts, if they are even
    std::memcpy(to + layout_.starts, starts_.data(), starts_.size() * 4);
    auto* number = words + layout_.numbers / 8;
    for (const Item& item : items_) *number++ = numbers_[item.place];
    for (std::size_t mask = 0; mask < masks_.size(); ++mask) write_table(to, mask);

    auto& head = *reinterpret_cast<SegmentHead*>(to);
    head = {SegmentHead::kMagic,
            SegmentHead::kVersion,
            bits_,
            mask_count_,
            groups,
            count_,
            layout_.end,
            0,
            0,
            0};
    head.body_sum = segment_checksum(words + layout_.body / 8, (layout_.end - layout_.body) / 8);
    head.plan_sum = segment_checksum(plan, mask_count_ * limbs_);
    head.head_sum = segment_checksum(words, sizeof(SegmentHead) / 8 - 1);
}

// By rows, then by numbers: first by their topmost bits, then each of these buckets in cache.
std::vector<SegmentWriter::Item> SegmentWriter::sorted_items() const {
    const auto depth =
        static_cast<unsigned>(std::clamp<int>(static_cast<int>(std::bit_width(count_)) - 7, 0, 16));
    const auto digit = [&](std::size_t i) { return bucket_of(rows_[i * limbs_], depth); };
    std::vector<std::size_t> ends((std::size_t{1} << depth) + 1);
    for (std::size_t i = 0; i < count_; ++i) ++ends[digit(i) + 1];
    for (std::size_t bucket = 1; bucket < ends.size(); ++bucket) ends[bucket] += ends[bucket - 1];
    std::vector<Item> items(count_);
    std::vector<std::size_t> next = ends;
    for (std::size_t i = 0; i < count_; ++i)
        items[next[digit(i)]++] = {rows_[i * limbs_], static_cast<std::uint32_t>(i)};
    const auto before = [&](const Item& x, const Item& y) {
        if (x.first_limb != y.first_limb) return x.first_limb < y.first_limb;
        const std::uint64_t *a = rows_ + x.place * limbs_, *b = rows_ + y.place * limbs_;
        const auto [left, right] = std::mismatch(a + 1, a + limbs_, b + 1);
        return left != a + limbs_ ? *left < *right : numbers_[x.place] < numbers_[y.place];
    };
    for (std::size_t bucket = 0; bucket + 1 < ends.size(); ++bucket)
        std::sort(items.begin() + static_cast<std::ptrdiff_t>(ends[bucket]),
                  items.begin() + static_cast<std::ptrdiff_t>(ends[bucket + 1]), before);
    return items;
}

std::vector<std::uint32_t> SegmentWriter::group_starts() const {
    std::vector<std::uint32_t> starts;
    for (std::size_t i = 0; i < count_; ++i) {
        const std::uint64_t* row = rows_ + items_[i].place * limbs_;
        if (i == 0 || items_[i].first_limb != items_[i - 1].first_limb ||
            !std::equal(row, row + limbs_, rows_ + items_[i - 1].place * limbs_))
            starts.push_back(static_cast<std::uint32_t>(i));
    }
    starts.push_back(static_cast<std::uint32_t>(count_));
    return starts;
}

void SegmentWriter::write_table(std::uint8_t* to, std::size_t mask) const {
    const SegmentLayout::Table& table = layout_.tables[mask];
    const auto part = [&](std::size_t at) { return reinterpret_cast<std::uint32_t*>(to + at); };
    const auto* rows = reinterpret_cast<const std::uint64_t*>(to + layout_.body);
    const std::size_t groups = starts_.size() - 1, buckets = std::size_t{1} << table.depth;
    const MaskKey& key_of = masks_[mask];
    std::uint32_t *ends = part(table.buckets), *tags = part(table.tags), *of = part(table.groups);
    // What fills the parts up to whole words.
    *(tags - 1) = *(of - 1) = 0;
    if (groups % 2 == 1) of[groups] = 0;
    std::fill_n(ends, buckets + 1, 0U);
    for (std::size_t group = 0; group < groups; ++group)
        ++ends[bucket_of(key_of.key(rows + group * limbs_), table.depth) + 1];
    for (std::size_t bucket = 0; bucket < buckets; ++bucket) ends[bucket + 1] += ends[bucket];
    std::vector<std::uint32_t> next(ends, ends + buckets);
    for (std::size_t group = 0; group < groups; ++group) {
        const std::uint64_t* row = rows + group * limbs_;
        const std::uint64_t key = key_of.key(row);
        const std::uint32_t at = next[bucket_of(key, table.depth)]++;
        tags[at] = key_of.tag(row, key);
        of[at] = static_cast<std::uint32_t>(group);
    }
}

}  // namespace neardup
