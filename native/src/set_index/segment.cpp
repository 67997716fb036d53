#include "neardup/set_index/segment.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <stdexcept>

namespace neardup {

namespace {

std::invalid_argument damaged() { return std::invalid_argument("a segment is damaged"); }
std::invalid_argument bad_block() {
    return std::invalid_argument("a block of records is not as it was written");
}

std::size_t whole_words(std::size_t bytes) { return (bytes + 7) / 8 * 8; }

template <typename T>
T value_at(const std::uint8_t* data, std::size_t at) {
    T value;
    std::memcpy(&value, data + at, sizeof value);
    return value;
}

constexpr int kMostLog = 8;
constexpr unsigned kMostDepth = 24;

// The least size of a set whose bitmap has 2^log words.
std::size_t least_size_of_log(int log) { return log == 0 ? 0 : std::size_t{32} << log; }

}  // namespace

void FeatureBlock::check() const {
    const auto inside = [&](std::size_t at, std::size_t bytes) {
        return at <= size && bytes <= size - at;
    };
    if (documents > size || first > std::numeric_limits<std::uint64_t>::max() / 2 ||
        !inside(numbers, 4 * documents) || (expires != 0 && !inside(expires, 8 * documents)) ||
        !inside(starts, 4 * (documents + 1)) || features > size)
        throw bad_block();
}

std::uint64_t FeatureBlock::number(std::size_t place) const {
    return first + value_at<std::uint32_t>(data, numbers + 4 * place);
}

std::int64_t FeatureBlock::expiry(std::size_t place) const {
    return expires == 0 ? kNoExpiry : value_at<std::int64_t>(data, expires + 8 * place);
}

StoredSet FeatureBlock::set(std::size_t place) const {
    const std::size_t begin = value_at<std::uint32_t>(data, starts + 4 * place),
                      end = value_at<std::uint32_t>(data, starts + 4 * place + 4);
    if (begin > end || end > size - features) throw bad_block();
    return {data + features + begin, end - begin};
}

std::size_t FeatureBlock::find(std::uint64_t wanted) const {
    if (wanted < first) return documents;
    const std::uint64_t direct = wanted - first;
    if (direct < documents && number(direct) == wanted) return direct;  // no gaps before it
    std::size_t low = 0, high = documents;
    while (low < high) {
        const std::size_t middle = (low + high) / 2;
        if (number(middle) < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return low < documents && number(low) == wanted ? low : documents;
}

SetSegmentLayout::SetSegmentLayout(const SetSegmentHead& head, std::size_t bitmap_words,
                                   std::size_t band_postings) {
    std::size_t at = sizeof(SetSegmentHead);
    const auto after = [&](std::size_t bytes) {
        const std::size_t begins = at;
        at += whole_words(bytes);
        return begins;
    };
    masses = after(head.sets * (head.weighted ? 8 : 4));
    starts = after((head.sets + 1) * 4);
    numbers = after(head.documents * 4);
    expires = after(head.expires ? head.documents * 8 : 0);
    bitmaps = after(bitmap_words * 8);
    band_ends = after(head.bands * 8);
    buckets = after(head.bands * ((std::size_t{1} << head.depth) + 1) * 4);
    postings = after(band_postings * 4);
    const bool has_prefix = head.prefix_postings != 0;
    rarity = after(has_prefix ? std::size_t{1} << head.rarity : 0);
    prefix_buckets = after(has_prefix ? ((std::size_t{1} << head.prefix_depth) + 1) * 4 : 0);
    prefix_postings = after(head.prefix_postings * 4);
    end = at;
}

SetSegment::SetSegment(const std::uint8_t* data, std::size_t size, std::vector<FeatureBlock> blocks)
    : size_(size), blocks_(std::move(blocks)) {
    constexpr std::size_t head_words = sizeof(SetSegmentHead) / 8;
    if (size < sizeof(SetSegmentHead) || size % 8 != 0)
        throw std::invalid_argument("a segment is cut off");
    if (reinterpret_cast<std::uintptr_t>(data) % 8 == 0) {
        data_ = reinterpret_cast<const std::uint64_t*>(data);
    } else {
        aligned_.resize(size / 8);
        std::memcpy(aligned_.data(), data, size);
        data_ = aligned_.data();
    }
    const SetSegmentHead& found = head();
    if (found.magic != SetSegmentHead::kMagic ||
        segment_checksum(data_, head_words - 1) != found.head_sum)
        throw std::invalid_argument("this is not a segment, or it is damaged");
    if (found.version != SetSegmentHead::kVersion)
        throw std::invalid_argument("a segment has format version " +
                                    std::to_string(found.version) + ", which is not known here");
    if (found.bytes != size) throw std::invalid_argument("a segment is cut off");
    const auto most = static_cast<std::uint64_t>(Measure::inclusion);
    const double threshold = std::bit_cast<double>(found.threshold);
    if (found.measure > most || found.weighted > 1 || !(threshold > 0 && threshold <= 1) ||
        found.bands > kMostBands || found.minima > kMostMinima ||
        (found.bands != 0 && (found.weighted || found.minima == 0)) || found.sets > kMostSets ||
        found.documents > std::numeric_limits<std::uint32_t>::max() ||
        found.sets > found.documents || found.depth > kMostDepth ||
        found.prefix_depth > kMostDepth || found.rarity > kMostDepth ||
        (found.prefix_postings != 0 && found.rarity == 0) || found.prefix_postings > size / 4 ||
        found.first > kNoNumber / 2)
        throw damaged();
    layout_ = SetSegmentLayout(found, 0, 0);
    if (layout_.end > size) throw damaged();
    std::size_t bitmap_words = 0;
    if (!found.weighted)
        for (int log = 0; log <= kMostLog; ++log) {
            log_begins_[log] = first_of_mass(static_cast<double>(least_size_of_log(log)), false);
            if (log != 0) bitmap_words += (log_begins_[log] - log_begins_[log - 1]) << (log - 1);
            log_words_[log] = bitmap_words;
        }
    if (!found.weighted) bitmap_words += (found.sets - log_begins_[kMostLog]) << kMostLog;
    layout_ = SetSegmentLayout(found, bitmap_words, 0);
    if (layout_.end > size) throw damaged();
    std::size_t postings = 0;
    const std::uint64_t* ends = part<std::uint64_t>(layout_.band_ends);
    for (std::size_t band = 0; band < found.bands; ++band) {
        if (ends[band] < postings || ends[band] > size / 4) throw damaged();
        postings = ends[band];
    }
    layout_ = SetSegmentLayout(found, bitmap_words, postings);
    if (layout_.end != size) throw damaged();
    std::uint64_t next = 0;
    for (const FeatureBlock& block : blocks_) {
        block.check();
        if (block.first < next) throw bad_block();
        next = block.first + 1;
    }
}

SetPlan SetSegment::plan() const {
    return {static_cast<Measure>(head().measure), head().weighted != 0,
            std::bit_cast<double>(head().threshold), static_cast<std::uint32_t>(head().bands),
            static_cast<std::uint32_t>(head().minima)};
}

double SetSegment::mass(std::size_t set) const {
    return head().weighted ? part<double>(layout_.masses)[set] : static_cast<double>(size_of(set));
}

std::size_t SetSegment::first_of_mass(double wanted, bool above) const {
    std::size_t low = 0, high = head().sets;
    while (low < high) {
        const std::size_t middle = (low + high) / 2;
        if (above ? mass(middle) <= wanted : mass(middle) < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const std::uint64_t* SetSegment::bitmap(std::size_t set, int log) const {
    if (set < log_begins_[log]) throw damaged();
    const std::size_t word = log_words_[log] + ((set - log_begins_[log]) << log);
    if (layout_.bitmaps + 8 * (word + (std::size_t{1} << log)) > layout_.band_ends) throw damaged();
    return part<std::uint64_t>(layout_.bitmaps) + word;
}

void SetSegment::gather_bands(const IndexedSet& asked, std::uint32_t first, std::uint32_t last,
                              bool& crowded, std::vector<std::uint32_t>& sets) const {
    const auto depth = static_cast<unsigned>(head().depth);
    const std::size_t stride = (std::size_t{1} << depth) + 1, bands = head().bands;
    const std::uint32_t* buckets = part<std::uint32_t>(layout_.buckets);
    const std::uint32_t* postings = part<std::uint32_t>(layout_.postings);
    const std::uint64_t* ends = part<std::uint64_t>(layout_.band_ends);
    const auto bucket = [&](std::size_t band) {
        return buckets + band * stride + bucket_of_key(asked.bands[band], depth);
    };
    for (std::size_t band = 0; band < bands; ++band) __builtin_prefetch(bucket(band));
    for (std::size_t band = 0; band < bands; ++band)
        __builtin_prefetch(postings + (band == 0 ? 0 : ends[band - 1]) +
                           std::min<std::size_t>(bucket(band)[0], size_ / 4));
    for (std::size_t band = 0; band < bands; ++band) {
        const std::size_t base = band == 0 ? 0 : ends[band - 1];
        const std::uint32_t begin = bucket(band)[0], end = bucket(band)[1];
        if (begin > end || base + end > ends[band]) throw damaged();
        const std::uint32_t tag = tag_of_key(asked.bands[band], depth);
        for (std::uint32_t at = begin; at < end; ++at) {
            const std::uint32_t posting = postings[base + at];
            if ((posting & 0xFF) != tag) continue;
            const std::uint32_t set = posting >> kTagBits;
            if (set == kCrowded)
                crowded = true;
            else if (set >= first && set < last)
                sets.push_back(set);
        }
    }
}

void SetSegment::gather_prefix(const SetComparer& comparer, double threshold, std::uint32_t first,
                               std::uint32_t last, Scratch& scratch) const {
    if (head().prefix_postings == 0) return;
    const auto depth = static_cast<unsigned>(head().prefix_depth);
    const RarityTable table{part<std::uint8_t>(layout_.rarity),
                            static_cast<unsigned>(head().rarity)};
    const std::uint32_t* buckets = part<std::uint32_t>(layout_.prefix_buckets);
    const std::uint32_t* postings = part<std::uint32_t>(layout_.prefix_postings);
    const IndexedSet& asked = comparer.asked();
    const Limits limits = plan().limits(threshold);
    RarestFeatures& rarest = scratch.rarest;
    if (head().weighted)
        rarest.choose(asked.weighted, table, limits);
    else
        rarest.choose(asked.features, asked.size, table, limits);
    const auto not_lighter = static_cast<std::uint32_t>(first_of_mass(asked.mass, false));
    const auto heavier = static_cast<std::uint32_t>(first_of_mass(asked.mass, true));
    std::vector<Scratch::Lookup>& lookups = scratch.lookups;
    lookups.clear();
    for (const std::uint32_t feature : rarest.first) {
        lookups.push_back({key_of_rarest(feature, false), first, last});
        lookups.push_back({key_of_rarest(feature, true), std::max(first, not_lighter), last});
    }
    // A document that shares most of itself is found by its first features.
    if (limits.asked(asked.mass) >= limits.index(asked.mass)) rarest.further.clear();
    for (const std::uint32_t feature : rarest.further)
        lookups.push_back({key_of_rarest(feature, false), first, std::min(last, heavier)});
    const auto bucket = [&](std::size_t i) {
        return buckets + bucket_of_key(lookups[i].key, depth);
    };
    constexpr std::size_t kAhead = 8;
    for (std::size_t i = 0; i < lookups.size() + kAhead; ++i) {
        if (i < lookups.size()) __builtin_prefetch(bucket(i));
        if (i >= kAhead / 2 && i - kAhead / 2 < lookups.size())
            __builtin_prefetch(postings +
                               std::min<std::size_t>(bucket(i - kAhead / 2)[0], size_ / 4));
        if (i < kAhead) continue;
        const Scratch::Lookup& lookup = lookups[i - kAhead];
        const std::uint32_t begin = bucket(i - kAhead)[0], end = bucket(i - kAhead)[1];
        if (begin > end || end > head().prefix_postings) throw damaged();
        const std::uint32_t tag = tag_of_key(lookup.key, depth);
        for (std::uint32_t at = begin; at < end; ++at) {
            const std::uint32_t set = postings[at] >> kTagBits;
            if ((postings[at] & 0xFF) == tag && set >= lookup.first && set < lookup.last)
                scratch.sets.push_back(set);
        }
    }
}

template <typename Take>
void SetSegment::each_alive(std::size_t set, const SetQuestion& question, const DeadNumbers& dead,
                            std::uint64_t skip, const Take& take) const {
    const std::uint32_t* starts = part<std::uint32_t>(layout_.starts) + set;
    if (starts[0] >= starts[1] || starts[1] > head().documents) throw damaged();
    const std::uint32_t* numbers = part<std::uint32_t>(layout_.numbers);
    const std::int64_t* expires = head().expires ? part<std::int64_t>(layout_.expires) : nullptr;
    const std::uint64_t *gone = dead.numbers, *gone_end = dead.numbers + dead.count;
    for (std::uint32_t i = starts[0]; i < starts[1]; ++i) {
        const std::uint64_t number = head().first + numbers[i];
        if (number == skip || (expires != nullptr && expires[i] <= question.now)) continue;
        gone = std::lower_bound(gone, gone_end, number);
        if (gone != gone_end && *gone == number) continue;
        if (!take(number)) return;
    }
}

StoredSet SetSegment::stored(std::uint64_t number) const {
    const auto after = std::upper_bound(
        blocks_.begin(), blocks_.end(), number,
        [](std::uint64_t wanted, const FeatureBlock& block) { return wanted < block.first; });
    if (after == blocks_.begin()) throw std::invalid_argument("a record is missing");
    const FeatureBlock& block = *std::prev(after);
    const std::size_t place = block.find(number);
    if (place == block.documents) throw std::invalid_argument("a record is missing");
    return block.set(place);
}

void SetSegment::search(SetComparer& comparer, const SetQuestion& question, const DeadNumbers& dead,
                        std::uint64_t skip, BestMatches& best, Scratch& scratch) const {
    const IndexedSet& asked = comparer.asked();
    const auto first = static_cast<std::uint32_t>(first_of_mass(comparer.least_mass(), false));
    const auto last = static_cast<std::uint32_t>(first_of_mass(comparer.most_mass(), true));
    if (first >= last || asked.size == 0) return;
    std::vector<std::uint32_t>& sets = scratch.sets;
    sets.clear();
    bool crowded = head().bands == 0;
    gather_bands(asked, first, last, crowded, sets);
    if (crowded) gather_prefix(comparer, question.threshold, first, last, scratch);
    std::sort(sets.begin(), sets.end());
    sets.erase(std::unique(sets.begin(), sets.end()), sets.end());

    scratch.bounds.clear();
    if (head().weighted) {
        for (const std::uint32_t set : sets) scratch.bounds.push_back({1, set});
    } else {
        for (const std::uint32_t set : sets) {
            const int log = index_parity_log(size_of(set));
            const double most = comparer.most_similar(size_of(set), bitmap(set, log), log);
            if (most >= question.threshold) scratch.bounds.push_back({most, set});
        }
        // The most promising first: once enough are found, the others need not be read.
        std::stable_sort(scratch.bounds.begin(), scratch.bounds.end(),
                         [](const auto& x, const auto& y) { return x.most > y.most; });
    }
    for (const auto& [most, set] : scratch.bounds) {
        if (!best.wants(most)) break;
        std::uint64_t found = kNoNumber;
        each_alive(set, question, dead, skip, [&](std::uint64_t number) {
            found = number;
            return false;
        });
        if (found == kNoNumber) continue;
        const double similarity = comparer.similarity(stored(found));
        if (similarity < question.threshold) continue;
        std::size_t left = best.limit();
        each_alive(set, question, dead, skip, [&](std::uint64_t number) {
            best.add({similarity, number});
            return --left != 0;
        });
    }
}

void SetSegment::check() const {
    constexpr std::size_t head_words = sizeof(SetSegmentHead) / 8;
    if (segment_checksum(data_ + head_words, size_ / 8 - head_words) != head().body_sum)
        throw damaged();
}

}  // namespace neardup
