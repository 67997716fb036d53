#include "neardup/text/distinct.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <vector>

#include "check.hpp"

namespace neardup::tests {

namespace {

using Values = std::vector<std::uint64_t>;

// One set for all cases, as a fingerprinter keeps one for all documents.
bool agrees_with_a_set(portable::DistinctSet& set, const Values& values) {
    // Exactly the one more place that is asked for, so that a sanitizer sees any other.
    const std::unique_ptr<std::uint64_t[]> room(new std::uint64_t[values.size() + 1]);
    std::copy(values.begin(), values.end(), room.get());
    const std::size_t left = set.run(room.get(), values.size());
    Values got(room.get(), room.get() + left);
    std::sort(got.begin(), got.end());
    const std::set<std::uint64_t> expected(values.begin(), values.end());
    return std::equal(got.begin(), got.end(), expected.begin(), expected.end());
}

Values drawn(Random& random, std::size_t count, std::uint64_t different, std::uint64_t keep) {
    Values values(count);
    for (std::uint64_t& value : values) {
        const std::uint64_t chosen = different == 0 ? random() : 1 + random() % different;
        value = chosen * 0x9E3779B97F4A7C15 & keep;
    }
    return values;
}

// Fifteen values that meet in one slot in every round, each of them twice, so that more than a few
// are left for the sort behind them. They differ only in bits that choose no slot of a table so
// small: each round looks at the lowest of another eleven bits.
Values colliding(Random& random) {
    const std::uint64_t bits_of_a_round = 0x780, same = random() & ~bits_of_a_round;
    Values values;
    for (std::uint64_t i = 1; i <= 15; ++i) values.push_back(same | i << 7);
    Values twice = values;
    twice.insert(twice.end(), values.begin(), values.end());
    return twice;
}

}  // namespace

void test_distinct() {
    Random random(1);
    portable::DistinctSet set;
    const std::uint64_t all = ~0ULL, low = 0xFFFF, high = 0xFFFFULL << 48;
    const std::size_t table = 1 << 15;  // more values than that are parted first
    for (const std::size_t count :
         {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{31},
          std::size_t{1000}, table, table + 1, 3 * table + 7}) {
        for (const std::uint64_t keep : {all, low, high})
            CHECK_CASE(agrees_with_a_set(set, drawn(random, count, 0, keep)), count);
        for (const std::uint64_t different : {1, 2, 40000})
            CHECK_CASE(agrees_with_a_set(set, drawn(random, count, different, all)), count);
        CHECK_CASE(agrees_with_a_set(set, Values(count, 0)), count);
        CHECK_CASE(agrees_with_a_set(set, Values(count, all)), count);
        Values zeros_between = drawn(random, count, 0, all);
        for (std::size_t i = 0; i < count; i += 3) zeros_between[i] = 0;
        CHECK_CASE(agrees_with_a_set(set, zeros_between), count);
    }
    for (long seed = 0; seed < rounds(200); ++seed) {
        random.seed(static_cast<std::uint64_t>(seed));
        const std::size_t count = below(random, 400);
        CHECK_CASE(agrees_with_a_set(set, drawn(random, count, below(random, 300), all)), seed);
    }
    Values hostile = colliding(random);
    CHECK(agrees_with_a_set(set, hostile));
    std::reverse(hostile.begin(), hostile.end());
    CHECK(agrees_with_a_set(set, hostile));
    set.release();
    CHECK(set.bytes() == 0);
    CHECK(agrees_with_a_set(set, hostile));
}

}  // namespace neardup::tests
