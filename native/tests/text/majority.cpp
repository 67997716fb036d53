#include "neardup/text/majority.hpp"

#include <vector>

#include "check.hpp"

namespace neardup::tests {

namespace {

using Values = std::vector<std::uint64_t>;

struct Naive {
    std::uint64_t counts[64] = {};

    void add(const Values& hashes) {
        for (const std::uint64_t hash : hashes)
            for (int bit = 0; bit < 64; ++bit) counts[bit] += hash >> bit & 1;
    }

    std::uint64_t at_least(std::uint64_t least) const {
        std::uint64_t out = 0;
        for (int bit = 0; bit < 64; ++bit)
            out |= static_cast<std::uint64_t>(counts[bit] >= least) << bit;
        return out;
    }
};

Values drawn(Random& random, std::size_t count) {
    Values hashes(count);
    // Some bits are always set, some never, some rarely, some often.
    for (std::uint64_t& hash : hashes)
        hash = ((random() & random() & 0xFFFFFFFF) | (random() | random()) << 32 | 1) & ~2ULL;
    return hashes;
}

void check_thresholds(const portable::BitCounter& counter, const Naive& naive,
                      std::uint64_t total) {
    for (const std::uint64_t least :
         {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{2}, total / 4, total / 2,
          (total + 1) / 2, total / 2 + 1, 3 * total / 4, total, total + 1, std::uint64_t{1} << 40})
        CHECK_CASE(counter.at_least(least) == naive.at_least(least), total);
}

}  // namespace

void test_majority() {
    Random random(2);
    portable::BitCounter counter;
    for (std::size_t count = 0; count <= 200; ++count) {
        const Values hashes = drawn(random, count);
        Naive naive;
        naive.add(hashes);
        counter.restart();
        counter.add(hashes.data(), count);
        check_thresholds(counter, naive, count);
    }

    // A document comes in pieces of any size, none of them a whole number of blocks.
    counter.restart();
    Naive naive;
    std::uint64_t total = 0;
    for (int piece = 0; piece < 300; ++piece) {
        const Values hashes = drawn(random, below(random, 100));
        naive.add(hashes);
        counter.add(hashes.data(), hashes.size());
        total += hashes.size();
        if (piece % 50 == 0) check_thresholds(counter, naive, total);
    }
    check_thresholds(counter, naive, total);

    // Counts that need many planes: every one of three million hashes has its highest bit set.
    const Values ones(3000, 1ULL << 63);
    counter.restart();
    for (int i = 0; i < 1000; ++i) counter.add(ones.data(), ones.size());
    CHECK(counter.at_least(3'000'000) == 1ULL << 63);
    CHECK(counter.at_least(3'000'001) == 0);
    CHECK(counter.at_least(0) == ~0ULL);
    counter.restart();
    CHECK(counter.at_least(1) == 0);
}

}  // namespace neardup::tests
