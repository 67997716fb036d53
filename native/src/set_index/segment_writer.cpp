#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <stdexcept>

#include "neardup/parallel.hpp"
#include "neardup/set_index/segment.hpp"
#include "neardup/set_index/sketch.hpp"

namespace neardup {

namespace {

constexpr std::size_t kInBucket = 8;
constexpr std::size_t kTask = 512;

unsigned depth_for(std::size_t postings) {
    const std::size_t buckets = std::max<std::size_t>(postings / kInBucket, 1);
    return std::min(static_cast<unsigned>(std::bit_width(buckets)) - 1, 23U);
}

std::uint32_t byte_hash(const StoredSet& set) {
    std::uint64_t hash = set.size;
    for (std::size_t at = 0; at < set.size; at += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, set.data + at, std::min<std::size_t>(8, set.size - at));
        hash = (hash ^ word) * 0x9E3779B97F4A7C15ULL;
        hash ^= hash >> 32;
    }
    return static_cast<std::uint32_t>(hash);
}

class Writer {
  public:
    Writer(const SetPlan& plan, const std::vector<FeatureBlock>& blocks,
           const ChosenNumbers& chosen, std::size_t threads)
        : plan_(plan), threads_(threads) {
        list_documents(blocks, chosen);
        group();
        sketch();
        for (std::size_t band = 0; band < plan.bands; ++band) tables_.emplace_back();
        make_bands();
        make_prefix();
    }

    std::vector<std::uint64_t> write() const;

  private:
    struct Document {
        std::uint64_t number;
        std::int64_t expires;
        StoredSet stored;
        double mass;
        std::uint32_t hash;
    };
    struct Table {
        std::vector<std::uint32_t> buckets, postings;
    };

    std::size_t sets() const { return starts_.size() - 1; }
    const Document& first_of(std::size_t set) const { return documents_[starts_[set]]; }

    // Call work(begin, end) for ranges of `count` things.
    template <typename Work>
    void in_ranges(std::size_t count, const Work& work) const {
        const std::size_t tasks = (count + kTask - 1) / kTask;
        parallel_tasks(tasks, threads_, [&](const auto& next) {
            auto mine = work();
            for (std::size_t task = next(); task < tasks; task = next())
                for (std::size_t i = task * kTask; i < std::min(count, (task + 1) * kTask); ++i)
                    mine(i);
        });
    }

    void list_documents(const std::vector<FeatureBlock>& blocks, const ChosenNumbers& chosen);
    void group();
    void sketch();
    void make_bands();
    void make_band(std::size_t band);
    void make_prefix();
    template <typename Take>
    void each_rarest(const RarityTable& table, const Take& take) const;

    SetPlan plan_;
    std::size_t threads_;
    std::vector<Document> documents_;
    std::vector<std::uint32_t> starts_;  // of each set among the documents
    std::vector<std::size_t> bitmap_at_;
    std::vector<std::uint64_t> bitmaps_;
    std::vector<std::uint32_t> keys_;
    std::vector<std::uint8_t> crowded_;  // which sets are found by their rarest features
    unsigned depth_ = 0;
    std::vector<Table> tables_;
    std::vector<std::uint8_t> ranks_;
    unsigned rarity_log_ = 0, prefix_depth_ = 0;
    Table prefix_;
};

void Writer::list_documents(const std::vector<FeatureBlock>& blocks, const ChosenNumbers& chosen) {
    const std::uint64_t *wanted = chosen.numbers, *wanted_end = chosen.numbers + chosen.count;
    for (const FeatureBlock& block : blocks) {
        block.check();
        for (std::size_t place = 0; place < block.documents; ++place) {
            const std::uint64_t number = block.number(place);
            if (!chosen.all) {
                wanted = std::lower_bound(wanted, wanted_end, number);
                if (wanted == wanted_end || *wanted != number) continue;
            }
            const StoredSet stored = block.set(place);
            if (stored.size == 0 || features_in(stored) == 0) continue;
            if (!documents_.empty() && number <= documents_.back().number)
                throw std::invalid_argument("the numbers of documents do not ascend");
            documents_.push_back({number, block.expiry(place), stored, 0, 0});
        }
    }
    if (documents_.size() > kMostSets)
        throw std::invalid_argument("too many documents for one segment");
    in_ranges(documents_.size(), [&] {
        return [&, read = ReadSet(), pairs = WeightedPairs()](std::size_t i) mutable {
            Document& document = documents_[i];
            document.hash = byte_hash(document.stored);
            document.mass = static_cast<double>(features_in(document.stored));
            if (!plan_.weighted) return;
            read.read(document.stored);
            if (!read.weighted()) throw std::invalid_argument("features have no weights");
            document.mass = mass_of(plan_, read.view(), pairs);
        };
    });
}

// Sort by mass, equal sets together in the order of their numbers.
void Writer::group() {
    const auto compare = [](const StoredSet& x, const StoredSet& y) {
        if (x.size != y.size) return x.size < y.size ? -1 : 1;
        return std::memcmp(x.data, y.data, x.size);
    };
    std::sort(documents_.begin(), documents_.end(), [&](const Document& x, const Document& y) {
        if (x.mass != y.mass) return x.mass < y.mass;
        if (x.hash != y.hash) return x.hash < y.hash;
        return x.number < y.number;
    });
    // Those of one hash are nearly always equal; to compare their bytes is left to the others.
    for (auto run = documents_.begin(); run != documents_.end();) {
        const auto stop = std::find_if(run, documents_.end(), [&](const Document& document) {
            return document.mass != run->mass || document.hash != run->hash;
        });
        if (std::any_of(run, stop, [&](const Document& document) {
                return compare(document.stored, run->stored) != 0;
            }))
            std::sort(run, stop, [&](const Document& x, const Document& y) {
                const int order = compare(x.stored, y.stored);
                return order != 0 ? order < 0 : x.number < y.number;
            });
        run = stop;
    }
    for (std::size_t i = 0; i < documents_.size(); ++i)
        if (i == 0 || documents_[i].hash != documents_[i - 1].hash ||
            compare(documents_[i].stored, documents_[i - 1].stored) != 0)
            starts_.push_back(static_cast<std::uint32_t>(i));
    starts_.push_back(static_cast<std::uint32_t>(documents_.size()));
}

void Writer::sketch() {
    if (plan_.weighted) return;
    std::size_t words = 0;
    for (std::size_t set = 0; set < sets(); ++set) {
        bitmap_at_.push_back(words);
        words += std::size_t{1} << index_parity_log(features_in(first_of(set).stored));
    }
    bitmaps_.resize(words);
    keys_.resize(sets() * plan_.bands);
    in_ranges(sets(), [&] {
        return [&, read = ReadSet(), parity = ParityBitmap(),
                sketcher = BandSketcher(plan_.bands, plan_.minima)](std::size_t set) mutable {
            read.read(first_of(set).stored);
            if (read.weighted()) throw std::invalid_argument("features have weights");
            set_parity(read.features(), read.size(), parity);
            const std::uint64_t* bitmap = parity.of_log(parity.log());
            std::copy_n(bitmap, std::size_t{1} << parity.log(), bitmaps_.data() + bitmap_at_[set]);
            sketcher.run(read.features(), read.size(), keys_.data() + set * plan_.bands);
        };
    });
}

void Writer::make_bands() {
    crowded_.assign(sets(), plan_.bands == 0);
    depth_ = depth_for(sets());
    parallel_tasks(plan_.bands, threads_, [&](const auto& next) {
        for (std::size_t band = next(); band < plan_.bands; band = next()) make_band(band);
    });
}

void Writer::make_band(std::size_t band) {
    struct Item {
        std::uint32_t key, set;
        bool operator<(const Item& other) const {
            return key != other.key ? key < other.key : set < other.set;
        }
    };
    const std::size_t many = std::size_t{1} << depth_;
    std::vector<std::uint32_t> ends(many + 1);
    const auto key = [&](std::size_t set) { return keys_[set * plan_.bands + band]; };
    for (std::size_t set = 0; set < sets(); ++set) ++ends[bucket_of_key(key(set), depth_) + 1];
    for (std::size_t bucket = 0; bucket < many; ++bucket) ends[bucket + 1] += ends[bucket];
    std::vector<Item> items(sets());
    std::vector<std::uint32_t> next(ends.begin(), ends.end() - 1);
    for (std::size_t set = 0; set < sets(); ++set)
        items[next[bucket_of_key(key(set), depth_)]++] = {key(set),
                                                          static_cast<std::uint32_t>(set)};
    Table& table = tables_[band];
    table.buckets.reserve(many + 1);
    table.buckets.push_back(0);
    for (std::size_t bucket = 0; bucket < many; ++bucket) {
        const auto begin = items.begin() + ends[bucket], end = items.begin() + ends[bucket + 1];
        std::sort(begin, end);
        for (auto run = begin; run != end;) {
            const auto stop =
                std::find_if(run, end, [&](const Item& item) { return item.key != run->key; });
            const std::uint32_t tag = tag_of_key(run->key, depth_);
            if (static_cast<std::size_t>(stop - run) > kCrowd) {
                table.postings.push_back(kCrowded << kTagBits | tag);
                for (; run != stop; ++run)
                    std::atomic_ref(crowded_[run->set]).store(1, std::memory_order_relaxed);
            }
            for (; run != stop; ++run) table.postings.push_back(run->set << kTagBits | tag);
        }
        table.buckets.push_back(static_cast<std::uint32_t>(table.postings.size()));
    }
}

template <typename Take>
void Writer::each_rarest(const RarityTable& table, const Take& take) const {
    ReadSet read;
    RarestFeatures rarest;
    const Limits limits = plan_.limits(plan_.threshold);
    for (std::size_t set = 0; set < sets(); ++set) {
        if (!crowded_[set]) continue;
        read.read(first_of(set).stored);
        if (plan_.weighted)
            rarest.choose(read.view(), table, limits);
        else
            rarest.choose(read.features(), read.size(), table, limits);
        for (const std::uint32_t feature : rarest.first)
            take(key_of_rarest(feature, false), static_cast<std::uint32_t>(set));
        for (const std::uint32_t feature : rarest.further)
            take(key_of_rarest(feature, true), static_cast<std::uint32_t>(set));
    }
}

void Writer::make_prefix() {
    std::size_t features = 0;
    for (std::size_t set = 0; set < sets(); ++set)
        if (crowded_[set]) features += features_in(first_of(set).stored);
    if (features == 0) return;
    rarity_log_ = std::clamp(static_cast<unsigned>(std::bit_width(features / 16)), 10U, 22U);
    std::vector<std::uint32_t> counts(std::size_t{1} << rarity_log_);
    ReadSet read;
    for (std::size_t set = 0; set < sets(); ++set) {
        if (!crowded_[set]) continue;
        read.read(first_of(set).stored);
        for (std::size_t i = 0; i < read.size(); ++i) {
            const std::uint32_t feature =
                plan_.weighted ? short_feature(read.view().hashes[i]) : read.features()[i];
            ++counts[RarityTable::place(feature, rarity_log_)];
        }
    }
    ranks_.resize(counts.size());
    std::transform(counts.begin(), counts.end(), ranks_.begin(), rank_of_count);
    const RarityTable table{ranks_.data(), rarity_log_};

    std::size_t postings = 0;
    each_rarest(table, [&](std::uint32_t, std::uint32_t) { ++postings; });
    if (postings > std::numeric_limits<std::uint32_t>::max())
        throw std::invalid_argument("too many features for one segment");
    prefix_depth_ = depth_for(postings);
    std::vector<std::uint32_t>& buckets = prefix_.buckets;
    buckets.assign((std::size_t{1} << prefix_depth_) + 1, 0);
    each_rarest(table, [&](std::uint32_t key, std::uint32_t) {
        ++buckets[bucket_of_key(key, prefix_depth_) + 1];
    });
    for (std::size_t i = 1; i < buckets.size(); ++i) buckets[i] += buckets[i - 1];
    prefix_.postings.resize(postings);
    std::vector<std::uint32_t> next(buckets.begin(), buckets.end() - 1);
    each_rarest(table, [&](std::uint32_t key, std::uint32_t set) {
        prefix_.postings[next[bucket_of_key(key, prefix_depth_)]++] =
            set << kTagBits | tag_of_key(key, prefix_depth_);
    });
}

std::vector<std::uint64_t> Writer::write() const {
    SetSegmentHead head{};
    head.magic = SetSegmentHead::kMagic;
    head.version = SetSegmentHead::kVersion;
    head.measure = static_cast<std::uint64_t>(plan_.measure);
    head.weighted = plan_.weighted;
    head.threshold = std::bit_cast<std::uint64_t>(plan_.threshold);
    head.bands = plan_.bands;
    head.minima = plan_.minima;
    head.sets = sets();
    head.documents = documents_.size();
    head.depth = depth_;
    head.prefix_depth = prefix_depth_;
    head.prefix_postings = prefix_.postings.size();
    head.rarity = rarity_log_;
    head.first = kNoNumber / 2;
    for (const Document& document : documents_) {
        head.first = std::min(head.first, document.number);
        if (document.expires != kNoExpiry) head.expires = 1;
    }
    std::size_t band_postings = 0;
    for (const Table& table : tables_) band_postings += table.postings.size();
    const SetSegmentLayout layout(head, bitmaps_.size(), band_postings);
    head.bytes = layout.end;

    std::vector<std::uint64_t> words(layout.end / 8);
    const auto part = [&]<typename T>(std::size_t at, T) {
        return reinterpret_cast<T*>(words.data() + at / 8);
    };
    for (std::size_t set = 0; set < sets(); ++set) {
        const double mass = first_of(set).mass;
        if (plan_.weighted)
            part(layout.masses, 0.0)[set] = mass;
        else
            part(layout.masses, 0U)[set] = static_cast<std::uint32_t>(mass);
    }
    std::copy(starts_.begin(), starts_.end(), part(layout.starts, 0U));
    for (std::size_t i = 0; i < documents_.size(); ++i) {
        const std::uint64_t relative = documents_[i].number - head.first;
        if (relative > std::numeric_limits<std::uint32_t>::max())
            throw std::invalid_argument("the numbers of a segment are too far apart");
        part(layout.numbers, 0U)[i] = static_cast<std::uint32_t>(relative);
        if (head.expires) part(layout.expires, std::int64_t{})[i] = documents_[i].expires;
    }
    std::copy(bitmaps_.begin(), bitmaps_.end(), words.data() + layout.bitmaps / 8);
    std::uint32_t *buckets = part(layout.buckets, 0U), *postings = part(layout.postings, 0U);
    std::uint64_t end = 0;
    for (std::size_t band = 0; band < tables_.size(); ++band) {
        const Table& table = tables_[band];
        buckets = std::copy(table.buckets.begin(), table.buckets.end(), buckets);
        postings = std::copy(table.postings.begin(), table.postings.end(), postings);
        words[layout.band_ends / 8 + band] = end += table.postings.size();
    }
    std::copy(ranks_.begin(), ranks_.end(), part(layout.rarity, std::uint8_t{}));
    std::copy(prefix_.buckets.begin(), prefix_.buckets.end(), part(layout.prefix_buckets, 0U));
    std::copy(prefix_.postings.begin(), prefix_.postings.end(), part(layout.prefix_postings, 0U));

    constexpr std::size_t head_words = sizeof head / 8;
    head.body_sum = segment_checksum(words.data() + head_words, words.size() - head_words);
    std::memcpy(words.data(), &head, sizeof head);
    words[head_words - 1] = segment_checksum(words.data(), head_words - 1);
    return words;
}

}  // namespace

std::vector<std::uint64_t> pack_sets(const SetPlan& plan, const std::vector<FeatureBlock>& blocks,
                                     const ChosenNumbers& chosen, std::size_t threads) {
    return Writer(plan, blocks, chosen, threads).write();
}

}  // namespace neardup
