#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "check.hpp"
#include "neardup/text/feature_counts.hpp"
#include "neardup/text/feature_sets.hpp"
#include "neardup/text/kernels.hpp"

namespace neardup::tests {

namespace {

std::vector<std::uint64_t> drawn_values(Random& random, std::size_t count) {
    // Many different, a few often, and some that share all their leading bits.
    const std::uint64_t kinds = 1 + below(random, 4 * count + 1);
    std::vector<std::uint64_t> values(count);
    for (std::uint64_t& value : values) {
        const std::uint64_t hash = portable::feature_of(below(random, kinds));
        value = random() % 8 == 0 ? 0x1234'5678'0000'0000 | (hash & 255) : hash;
    }
    return values;
}

void check_sorter(std::uint64_t seed) {
    Random random(seed);
    portable::HashSorter<std::uint64_t> sorter;
    for (const std::size_t count : {0, 1, 2, 24, 25, 100, 5000, 40'000}) {
        std::vector<std::uint64_t> values = drawn_values(random, count), expected = values;
        std::sort(expected.begin(), expected.end());
        sorter.run(values.data(), values.size());
        CHECK_CASE(values == expected, seed);
    }
}

// The same features whether a document is taken at once or in compacted parts.
void check_sets(std::uint64_t seed) {
    Random random(seed);
    portable::FeatureSets<portable::PlainHash> sets({});
    std::map<std::uint64_t, std::uint32_t> expected;
    std::string text;
    for (std::size_t i = below(random, 3000); i != 0; --i) {
        const std::string word = std::to_string(below(random, 500));
        std::string padded = word + std::string(64, '\0');
        ++expected[portable::feature_of(portable::unit_value(
            reinterpret_cast<const std::uint8_t*>(padded.data()), word.size()))];
        text += word + " ";
    }
    const Shingle twice[] = {{true, 1}, {true, 1}};
    for (const std::size_t kinds : {1, 2}) {
        sets.run({twice, kinds}, reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
        bool same = sets.size() == expected.size();
        std::size_t at = 0;
        for (const auto& [hash, count] : expected) {
            same = same && sets.hashes()[at] == hash && sets.counts()[at] == kinds * count;
            ++at;
        }
        CHECK_CASE(same, seed);
    }
}

void check_counts(std::uint64_t seed) {
    Random random(seed);
    FeatureCounts counts(std::size_t{1} << 20);
    std::map<std::uint64_t, std::uint32_t> expected;
    for (int batch = 0; batch < 20; ++batch) {
        const std::vector<std::uint64_t> values = drawn_values(random, below(random, 3000));
        for (const std::uint64_t value : values) ++expected[value];
        counts.add(values.data(), values.size());
    }
    std::vector<std::uint64_t> hashes{42};
    for (const auto& [hash, count] : expected) hashes.push_back(hash);
    std::vector<std::uint32_t> found(hashes.size());
    counts.look_up(hashes.data(), hashes.size(), found.data());
    bool same = counts.size() == expected.size() && found[0] == 0 && counts.floor() == 0;
    for (std::size_t i = 1; i < hashes.size(); ++i) same = same && found[i] == expected[hashes[i]];
    const FeatureCounts::Items items = counts.items(2);
    std::size_t at = 0;
    for (const auto& [hash, count] : expected) {
        if (count < 2) continue;
        same = same && at < items.hashes.size() && items.hashes[at] == hash &&
               items.counts[at] == count;
        ++at;
    }
    CHECK_CASE(same && at == items.hashes.size(), seed);
}

// What is forgotten is rare: a count is short by no more than the floor.
void check_forgetting(std::uint64_t seed) {
    Random random(seed);
    FeatureCounts counts(2000);
    std::map<std::uint64_t, std::uint32_t> expected;
    for (int document = 0; document < 4000; ++document) {
        std::vector<std::uint64_t> features;
        for (std::uint64_t common = 0; common < 20; ++common)
            if (random() % (common + 1) == 0) features.push_back(portable::feature_of(common));
        for (int rare = 0; rare < 5; ++rare) features.push_back(random());
        for (const std::uint64_t feature : features) ++expected[feature];
        counts.add(features.data(), features.size());
    }
    bool within = counts.floor() > 0 && counts.size() <= 4000;
    for (const auto& [hash, count] : expected) {
        std::uint32_t found = 0;
        counts.look_up(&hash, 1, &found);
        within = within && found <= count && found + counts.floor() >= count;
    }
    CHECK_CASE(within, seed);
}

}  // namespace

void test_features() {
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
        check_sorter(seed);
        check_sets(seed);
        check_counts(seed);
        check_forgetting(seed);
    }
}

}  // namespace neardup::tests
