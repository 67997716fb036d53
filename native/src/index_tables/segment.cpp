#include "neardup/index_tables/segment.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>

namespace neardup {

namespace {

constexpr std::size_t kMostBits = 4096;
constexpr std::size_t kMostMasks = 10'000;
constexpr std::size_t kMostDocuments = 0xFFFFFFFF;
constexpr std::size_t kGroupsInBucket = 8;

std::invalid_argument damaged() { return std::invalid_argument("a segment is damaged"); }

std::size_t whole_words(std::size_t bytes) { return (bytes + 7) / 8 * 8; }

}  // namespace

SegmentLayout::SegmentLayout(const std::vector<MaskKey>& keys, std::size_t limbs,
                             std::size_t groups, std::size_t documents) {
    const auto after = [&](std::size_t bytes) {
        const std::size_t at = end;
        end += whole_words(bytes);
        return at;
    };
    after(sizeof(SegmentHead) + keys.size() * limbs * 8);
    body = after(groups * limbs * 8);
    starts = after((groups + 1) * 4);
    numbers = after(documents * 8);
    const std::size_t wanted = std::max<std::size_t>(groups / kGroupsInBucket, 1);
    for (const MaskKey& key : keys) {
        const unsigned depth =
            std::min(static_cast<unsigned>(std::bit_width(wanted)) - 1, key.size());
        const std::size_t buckets = after(((std::size_t{1} << depth) + 1) * 4);
        const std::size_t tags = after(groups * 4);
        tables.push_back({depth, buckets, tags, after(groups * 4)});
    }
}

std::uint64_t segment_checksum(const std::uint64_t* words, std::size_t count) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t mixed = (words[i] ^ i * kKeyFactor) * 0xC2B2AE3D27D4EB4FULL;
        sum += (mixed ^ mixed >> 32) * 0x165667B19E3779F9ULL;
    }
    return sum;
}

Segment::Segment(const std::uint8_t* data, std::size_t size) : size_(size) {
    constexpr std::size_t head_words = sizeof(SegmentHead) / 8;
    if (size < sizeof(SegmentHead) || size % 8 != 0)
        throw std::invalid_argument("a segment is cut off");
    if (reinterpret_cast<std::uintptr_t>(data) % 8 == 0) {
        data_ = reinterpret_cast<const std::uint64_t*>(data);
    } else {
        aligned_.resize(size / 8);
        std::memcpy(aligned_.data(), data, size);
        data_ = aligned_.data();
    }
    const SegmentHead& found = head();
    if (found.magic != SegmentHead::kMagic ||
        segment_checksum(data_, head_words - 1) != found.head_sum)
        throw std::invalid_argument("this is not a segment, or it is damaged");
    if (found.version != SegmentHead::kVersion)
        throw std::invalid_argument("a segment has format version " +
                                    std::to_string(found.version) + ", which is not known here");
    if (found.bytes != size) throw std::invalid_argument("a segment is cut off");
    if (found.bits < 1 || found.bits > kMostBits || found.masks > kMostMasks ||
        found.documents > kMostDocuments || found.groups > found.documents ||
        sizeof(SegmentHead) + found.masks * limbs() * 8 > size ||
        segment_checksum(mask_rows(), found.masks * limbs()) != found.plan_sum)
        throw damaged();
    masks_ = mask_keys(mask_rows(), found.masks, limbs(), found.bits);
    layout_ = SegmentLayout(masks_, limbs(), found.groups, found.documents);
    if (layout_.end != size) throw damaged();
}

// The segment as a query reads it; the cursor is at a tag.
class Segment::Source {
  public:
    Source(const Segment& segment, const DeadNumbers& dead)
        : segment_(segment),
          dead_(dead),
          rows_(segment.part<std::uint64_t>(segment.layout_.body)),
          limbs_(segment.limbs()),
          groups_(segment.head().groups) {}

    void prefetch_bucket(std::size_t mask, std::uint64_t key) const {
        const SegmentLayout::Table& table = segment_.layout_.tables[mask];
        __builtin_prefetch(part(table.buckets) + bucket_of(key, table.depth));
    }
    bool open(Cursor& cursor, std::uint64_t key) const {
        const SegmentLayout::Table& table = segment_.layout_.tables[cursor.mask];
        const std::uint32_t* bucket = part(table.buckets) + bucket_of(key, table.depth);
        const std::uint32_t first = bucket[0], last = bucket[1];
        if (first > last || last > groups_) throw damaged();
        cursor.at = first;
        cursor.left = last - first;
        if (cursor.left == 0) return false;
        const std::uint32_t* tags = part(table.tags) + first;
        for (std::uint32_t i = 0; i < std::min(cursor.left, 64U); i += 16)
            __builtin_prefetch(tags + i);
        return true;
    }
    // The whole bucket, which lies in one piece.
    template <typename Near, typename Take>
    void each_near(const Cursor& cursor, const Near& near, const Take& take) const {
        const SegmentLayout::Table& table = segment_.layout_.tables[cursor.mask];
        const std::uint32_t *tags = part(table.tags), *groups = part(table.groups);
        const std::size_t end = cursor.at + cursor.left;
        for (std::size_t at = cursor.at; at < end; at += kTagsAtOnce) {
            std::uint32_t bits;
            if (end - at >= kTagsAtOnce) {
                bits = near(tags + at);
            } else {
                // What is behind them is compared too, where there is something.
                std::uint32_t some[kTagsAtOnce] = {};
                const bool inside = table.tags + 4 * (at + kTagsAtOnce) <= segment_.size_;
                if (!inside) std::copy(tags + at, tags + end, some);
                bits = near(inside ? tags + at : some) & ~(~0U << (end - at));
            }
            for (; bits != 0; bits &= bits - 1) {
                const auto bit = static_cast<std::size_t>(std::countr_zero(bits));
                const std::uint32_t group = groups[at + bit];
                if (group >= groups_) throw damaged();
                take(group);
            }
        }
    }
    bool next(Cursor&) const { return false; }

    void prefetch_row(std::uint32_t group) const { __builtin_prefetch(row(group)); }
    const std::uint64_t* row(std::uint32_t group) const { return rows_ + group * limbs_; }
    template <typename Take>
    void each_member(std::uint32_t group, std::size_t most, const Take& take) const {
        const auto [first, last] = segment_.members(group);
        const std::uint64_t* numbers = segment_.part<std::uint64_t>(segment_.layout_.numbers);
        const std::uint64_t *dead = dead_.numbers, *dead_end = dead_.numbers + dead_.count;
        for (std::size_t i = first; i < last && most != 0; ++i) {
            dead = std::lower_bound(dead, dead_end, numbers[i]);
            if (dead != dead_end && *dead == numbers[i]) continue;
            take(numbers[i]);
            --most;
        }
    }

  private:
    const std::uint32_t* part(std::size_t at) const { return segment_.part<std::uint32_t>(at); }

    const Segment& segment_;
    const DeadNumbers& dead_;
    const std::uint64_t* rows_;
    std::size_t limbs_, groups_;
};

FoundMatches Segment::query(const Query& query, const DeadNumbers& dead, std::size_t threads,
                            const TableKernels& kernels) const {
    return search(Source(*this, dead), masks_, query, threads, kernels);
}

void Segment::check() const {
    if (segment_checksum(data_ + layout_.body / 8, (size_ - layout_.body) / 8) != head().body_sum)
        throw damaged();
}

void Segment::append_rows(const DeadNumbers& dead, NumberedRows& to) const {
    check();
    const Source source(*this, dead);
    std::size_t told = 0;
    for (std::uint32_t group = 0; group < head().groups; ++group) {
        const auto [first, last] = members(group);
        if (first != told) throw damaged();
        told = last;
        const std::uint64_t* row = source.row(group);
        source.each_member(group, last - first, [&](std::uint64_t number) {
            to.numbers.push_back(number);
            to.rows.insert(to.rows.end(), row, row + limbs());
        });
    }
    if (told != head().documents) throw damaged();
}

Segment::Span Segment::members(std::size_t group) const {
    const std::uint32_t* starts = part<std::uint32_t>(layout_.starts) + group;
    if (starts[0] >= starts[1] || starts[1] > head().documents) throw damaged();
    return {starts[0], starts[1]};
}

}  // namespace neardup
