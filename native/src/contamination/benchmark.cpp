#include "neardup/contamination/benchmark.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

namespace neardup {

namespace {

constexpr std::size_t kMostWords = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t kCommonListed = 1000;

// Word hashes of documents, one after the other.
struct Gathered final : WordTaker {
    std::vector<std::uint64_t> words;
    std::vector<std::size_t> begins{0};

    void take(std::size_t, const std::uint64_t* hashes, std::size_t count) override {
        words.insert(words.end(), hashes, hashes + count);
        begins.push_back(words.size());
    }
};

}  // namespace

Benchmark::Benchmark(const BenchmarkSettings& settings)
    : settings_(settings),
      field_begins_{0},
      windows_(settings.min_words),
      short_items_(std::min(settings.short_words, settings.min_words)) {
    if (settings.min_words == 0 || settings.short_words == 0 || settings.max_items == 0)
        throw std::invalid_argument("a hit has at least one word, and is in one item");
}

std::vector<std::uint8_t> Benchmark::add(const Column& fields, const std::uint32_t* item_of,
                                         std::size_t items, const TextKernels& kernels) {
    Gathered gathered;
    kernels.word_ranges(fields, gathered, whole_column(fields));
    std::vector<std::uint8_t> chosen(fields.count, 0);
    std::vector<std::span<const std::uint64_t>> own;
    std::size_t field = 0;
    for (std::size_t item = 0; item < items; ++item) {
        const std::size_t first = field;
        own.clear();
        for (; field < fields.count && item_of[field] == item; ++field)
            own.emplace_back(gathered.words.data() + gathered.begins[field],
                             gathered.begins[field + 1] - gathered.begins[field]);
        add_item(own, chosen.data() + first);
    }
    return chosen;
}

void Benchmark::add_item(std::span<const std::span<const std::uint64_t>> fields,
                         std::uint8_t* chosen) {
    std::size_t longest = 0, total = 0;
    for (std::size_t i = 0; i < fields.size(); ++i) {
        chosen[i] = fields[i].size() >= settings_.min_words;
        if (chosen[i] != 0) total += fields[i].size();
        if (fields[i].size() > fields[longest].size()) longest = i;
    }
    if (total == 0 && !fields.empty() && fields[longest].size() >= settings_.short_words) {
        chosen[longest] = 1;
        total = fields[longest].size();
    }
    const auto item = static_cast<std::uint32_t>(words_of_.size());
    Added added{0, 0};
    for (std::size_t i = 0; i < fields.size(); ++i) {
        if (chosen[i] == 0) continue;
        const auto& field = fields[i];
        for (const std::uint64_t word : field) {
            added.one = portable::fold_multiply(added.one ^ word, 0x9E3779B97F4A7C15ULL) + word;
            added.two = portable::fold_multiply(added.two ^ word, 0xC2B2AE3D27D4EB4FULL) + word;
        }
        added.one = added.one * 3 + field.size();
        added.two = added.two * 5 + field.size();
    }
    if (word_count_ + total >= kMostWords || words_of_.size() >= kMostWords)
        throw std::length_error("a benchmark has more than 2^32 words");
    words_of_.push_back(static_cast<std::uint32_t>(total));
    item_begins_.push_back(static_cast<std::uint32_t>(word_count_));
    same_as_.push_back(total == 0 ? item : known_.try_emplace(added, item).first->second);
    if (same_as_.back() != item) return;
    for (std::size_t i = 0; i < fields.size(); ++i) {
        if (chosen[i] == 0) continue;
        std::copy(fields[i].begin(), fields[i].end(),
                  buffer_.reserve(word_count_ + fields[i].size()) + word_count_);
        word_count_ += fields[i].size();
        field_begins_.push_back(static_cast<std::uint32_t>(word_count_));
        field_items_.push_back(item);
    }
}

std::size_t Benchmark::field_at(std::uint32_t position) const {
    return static_cast<std::size_t>(
               std::upper_bound(field_begins_.begin(), field_begins_.end(), position) -
               field_begins_.begin()) -
           1;
}

std::uint32_t Benchmark::distinct_items(std::span<const std::uint32_t> group) const {
    std::uint32_t items = 0, last = ~0U;
    for (const std::uint32_t position : group) {
        const std::uint32_t item = field_items_[field_at(position)];
        items += item != last;
        last = item;
    }
    return items;
}

// Of the places of equal words, bring those to the front that runs are looked for at, and return
// their number: none if too many items have these words, and of each field the first ones.
std::size_t Benchmark::keep(std::span<std::uint32_t> group) {
    if (group.size() <= std::min(settings_.max_items, kMostRepeats)) return group.size();
    const std::uint32_t items = distinct_items(group);
    if (items > settings_.max_items) {
        ++common_count_;
        const std::uint32_t item = field_items_[field_at(group[0])];
        common_.push_back({item, group[0] - item_begins_[item], items});
        for (const std::uint32_t position : group)
            for (std::uint32_t i = 0; i < settings_.min_words; ++i)
                common_words_[position + i] = true;
        return 0;
    }
    std::size_t kept = 0, of_field = 0, last = field_items_.size();
    for (const std::uint32_t position : group) {
        const std::size_t field = field_at(position);
        of_field = field == last ? of_field + 1 : 0;
        last = field;
        if (of_field < kMostRepeats) group[kept++] = position;
    }
    return kept;
}

// Take the words that do not count from those of each item; if none would be left, all count.
void Benchmark::count_words() {
    for (std::size_t item = 0; item < words_of_.size(); ++item) {
        if (same_as_[item] != item) {
            words_of_[item] = words_of_[same_as_[item]];
            continue;
        }
        const auto begin = common_words_.begin() + item_begins_[item];
        const auto end = begin + words_of_[item];
        const auto left = static_cast<std::uint32_t>(std::count(begin, end, false));
        if (left == 0)
            std::fill(begin, end, false);
        else
            words_of_[item] = left;
    }
}

void Benchmark::finish() {
    known_ = {};
    seeds_.assign(word_count_, false);
    common_words_.assign(word_count_, false);
    const std::span<const std::uint64_t> all = words();
    const auto each_field = [&](const auto& take) {
        for (std::size_t field = 0; field < field_items_.size(); ++field)
            take(field_begins_[field], field_begins_[field + 1] - field_begins_[field]);
    };
    windows_.build(
        all,
        [&](const auto& take) {
            each_field([&](std::uint32_t begin, std::uint32_t count) {
                windows_.windows(&all[begin], count, [&](std::size_t i, std::uint64_t hash) {
                    take(begin + static_cast<std::uint32_t>(i), hash);
                });
            });
        },
        [&](std::span<std::uint32_t> group) {
            const std::size_t kept = keep(group);
            for (std::size_t i = 0; i < kept; ++i) seeds_[group[i]] = true;
            return kept;
        });
    short_items_.build(
        all,
        [&](const auto& take) {
            each_field([&](std::uint32_t begin, std::uint32_t count) {
                if (count < settings_.min_words)
                    short_items_.windows(
                        &all[begin], short_items_.size(),
                        [&](std::size_t, std::uint64_t hash) { take(begin, hash); });
            });
        },
        [](std::span<std::uint32_t> group) { return group.size(); });
    if (common_count_ != 0) count_words();
    std::sort(common_.begin(), common_.end(), [](const CommonRun& one, const CommonRun& other) {
        if (one.items != other.items) return one.items > other.items;
        return std::pair(one.item, one.item_start) < std::pair(other.item, other.item_start);
    });
    if (common_.size() > kCommonListed) common_.resize(kCommonListed);
}

std::size_t Benchmark::bytes() const {
    return word_count_ * 8 + (field_begins_.capacity() + field_items_.capacity()) * 4 +
           (item_begins_.capacity() + words_of_.capacity() + same_as_.capacity()) * 4 +
           (seeds_.capacity() + common_words_.capacity()) / 8 + windows_.bytes() +
           short_items_.bytes();
}

}  // namespace neardup
