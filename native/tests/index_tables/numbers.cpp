#include <algorithm>
#include <set>
#include <vector>

#include "check.hpp"
#include "neardup/index_tables/numbers.hpp"

namespace neardup::tests {

namespace {

void check_numbers(std::uint64_t seed) {
    Random random(seed);
    SortedNumbers sorted;
    NumberSet numbers;
    std::set<std::uint64_t> known;
    const std::uint64_t most = seed % 2 == 0 ? 6000 : std::uint64_t{1} << 63;
    for (std::size_t i = 0; i < 20'000; ++i) {
        // First mostly more, then mostly fewer.
        const bool add = below(random, 10) < (i < 12'000 ? 9U : 2U);
        const auto some = known.lower_bound(random() % most);
        const std::uint64_t number = add || some == known.end() ? random() % most : *some;
        if (add) {
            const bool is_new = known.insert(number).second;
            CHECK_CASE(numbers.insert(number) == is_new, seed);
            if (is_new) sorted.add(number);
        } else {
            const bool was_there = known.erase(number) == 1;
            CHECK_CASE(numbers.erase(number) == was_there, seed);
            CHECK_CASE(sorted.remove(number) == was_there, seed);
        }
    }
    CHECK_CASE(numbers.size() == known.size() && sorted.size() == known.size(), seed);
    const std::size_t all = known.size();
    for (const std::size_t some : {std::size_t{0}, std::size_t{1}, all / 2, all, all + 9}) {
        std::vector<std::uint64_t> told;
        sorted.each(some, [&](std::uint64_t number) { told.push_back(number); });
        CHECK_CASE(told.size() == std::min(some, all), seed);
        CHECK_CASE(std::equal(told.begin(), told.end(), known.begin()), seed);
    }
}

}  // namespace

void test_numbers() {
    for (std::uint64_t seed = 0; seed < 4; ++seed) check_numbers(seed);
}

}  // namespace neardup::tests
