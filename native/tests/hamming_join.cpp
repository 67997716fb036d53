#include "neardup/hamming_join/join.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

#include "check.hpp"
#include "neardup/dispatch.hpp"
#include "neardup/hamming_join/star.hpp"

namespace neardup::tests {

namespace {

using Triple = std::tuple<std::size_t, std::size_t, std::uint32_t>;
using Triples = std::vector<Triple>;

// Rows near each other, in memory that ends with the last of them.
struct NearRows {
    std::size_t bits, limbs;
    std::vector<std::uint64_t> left, right;
    bool two;

    NearRows(Random& random, std::size_t width, std::size_t count)
        : bits(width), limbs((width + 63) / 64), two(below(random, 2) == 1) {
        std::vector<std::uint64_t> centres(limbs * (1 + below(random, 12)));
        for (std::uint64_t& limb : centres) limb = random();
        fill(random, centres, left, count);
        if (two) fill(random, centres, right, below(random, count + 1));
    }

    Sides sides() const {
        return {left.data(), left.size() / limbs, right.data(), right.size() / limbs, limbs, two};
    }

  private:
    void fill(Random& random, const std::vector<std::uint64_t>& centres,
              std::vector<std::uint64_t>& rows, std::size_t count) const {
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t centre = below(random, centres.size() / limbs) * limbs;
            std::vector<std::uint64_t> row(
                centres.begin() + static_cast<std::ptrdiff_t>(centre),
                centres.begin() + static_cast<std::ptrdiff_t>(centre + limbs));
            for (std::size_t flips = below(random, 6); flips != 0; --flips) {
                const std::size_t bit = below(random, bits);
                row[bit / 64] ^= std::uint64_t{1} << (63 - bit % 64);
            }
            if (bits % 64 != 0) row.back() &= ~(~std::uint64_t{0} >> bits % 64);
            rows.insert(rows.end(), row.begin(), row.end());
        }
        rows.shrink_to_fit();
    }
};

Triples triples(const std::vector<FoundPair>& pairs) {
    Triples all;
    for (const FoundPair& pair : pairs) all.emplace_back(pair.a(), pair.b(), pair.distance);
    return all;
}

// Every pair that `wanted(x, y, distance, a, b)`, looked at one by one.
template <typename Wanted>
Triples naive(const Sides& sides, const Wanted& wanted) {
    Triples all;
    const std::size_t others = sides.two ? sides.right_count : sides.left_count;
    for (std::size_t a = 0; a < sides.left_count; ++a)
        for (std::size_t b = sides.two ? 0 : a + 1; b < others; ++b) {
            const std::uint64_t* x = sides.row(a);
            const std::uint64_t* y = sides.row(sides.two ? sides.left_count + b : b);
            std::uint32_t distance = 0;
            for (std::size_t limb = 0; limb < sides.limbs; ++limb)
                distance += static_cast<std::uint32_t>(std::popcount(x[limb] ^ y[limb]));
            if (wanted(x, y, distance, a, b)) all.emplace_back(a, b, distance);
        }
    return all;
}

void check_within(Random& random, const NearRows& rows, long seed) {
    const Sides sides = rows.sides();
    const auto distance =
        static_cast<std::uint32_t>(below(random, std::min<std::size_t>(rows.bits, 14) + 1));
    const Triples expected =
        naive(sides, [&](auto, auto, std::uint32_t bits, auto, auto) { return bits <= distance; });
    for (const std::string& isa : available_isas())
        for (const HammingCosts& costs : {HammingCosts{0.2, 3, 6}, HammingCosts{1e6, 1e-3, 1e-3}})
            for (const std::size_t threads : {1, 2, 3}) {
                const HammingKernels& kernels = hamming_kernels_for(isa);
                CHECK_CASE(triples(join_within(sides, rows.bits, distance, {}, costs, threads,
                                               kernels)) == expected,
                           seed);
                CHECK_CASE(
                    triples(scan_pairs(sides, nullptr, distance, threads, kernels)) == expected,
                    seed);
            }
}

void check_masks(Random& random, const NearRows& rows, long seed) {
    const Sides sides = rows.sides();
    const std::size_t count = below(random, 5);
    std::vector<std::uint64_t> masks(count * rows.limbs);
    for (std::uint64_t& limb : masks) limb = random() & random() & random();
    const std::uint32_t most =
        below(random, 2) == 0 ? kAnyDistance : static_cast<std::uint32_t>(below(random, 9));
    const Triples expected = naive(sides, [&](auto x, auto y, std::uint32_t bits, auto, auto) {
        bool any = false;
        for (std::size_t mask = 0; mask < count; ++mask) {
            bool agree = true;
            for (std::size_t limb = 0; limb < rows.limbs; ++limb)
                agree = agree && ((x[limb] ^ y[limb]) & masks[mask * rows.limbs + limb]) == 0;
            any = any || agree;
        }
        return any && bits <= most;
    });
    for (const std::string& isa : available_isas()) {
        const MaskJoin found = join_masks(sides, {masks.data(), count}, most, true, {0.2, 3, 6}, 2,
                                          hamming_kernels_for(isa));
        CHECK_CASE(triples(found.pairs) == expected, seed);
        CHECK_CASE(found.count == expected.size(), seed);
    }
}

void check_windows(Random& random, const NearRows& rows, long seed) {
    const Sides sides{
        rows.left.data(), rows.left.size() / rows.limbs, nullptr, 0, rows.limbs, false};
    std::vector<std::int64_t> stops;
    for (std::size_t i = 0; i < sides.left_count; ++i) {
        const std::size_t least = std::max<std::size_t>(
            i + 1, stops.empty() ? 0 : static_cast<std::size_t>(stops.back()));
        stops.push_back(
            static_cast<std::int64_t>(std::min(sides.left_count, least + below(random, 3))));
    }
    const Triples expected =
        naive(sides, [&](auto, auto, std::uint32_t bits, std::size_t a, std::size_t b) {
            return bits <= 4 && static_cast<std::int64_t>(b) < stops[a];
        });
    for (const std::string& isa : available_isas())
        CHECK_CASE(
            triples(scan_pairs(sides, stops.data(), 4, 2, hamming_kernels_for(isa))) == expected,
            seed);
}

void check_groups(const NearRows& rows, long seed) {
    const Sides sides{
        rows.left.data(), rows.left.size() / rows.limbs, nullptr, 0, rows.limbs, false};
    for (const std::size_t threads : {1, 2, 3}) {
        const std::vector<std::uint32_t> firsts = first_equals(sides, threads);
        bool right = true, any = false;
        std::vector<std::int64_t> group_of;
        std::int64_t groups = 0;
        for (std::size_t i = 0; i < sides.left_count; ++i) {
            std::size_t first = 0;
            while (!std::equal(sides.row(first), sides.row(first) + rows.limbs, sides.row(i)))
                ++first;
            right = right && (firsts.empty() ? i : firsts[i]) == first;
            any = any || first != i;
            group_of.push_back(first == i ? groups++ : group_of[first]);
        }
        CHECK_CASE(right, seed);
        CHECK_CASE(firsts.empty() != any, seed);
        const Members members(group_of.data(), group_of.size(), static_cast<std::size_t>(groups));
        const Triples equal =
            naive(sides, [](auto, auto, std::uint32_t bits, auto, auto) { return bits == 0; });
        CHECK_CASE(triples(expand_pairs({}, members, nullptr)) == equal, seed);
    }
}

// The masks of `blocks` blocks of bits, one more than the distance.
std::vector<std::uint64_t> block_masks(std::size_t bits, std::size_t blocks) {
    const std::size_t limbs = (bits + 63) / 64;
    std::vector<std::uint64_t> masks(blocks * limbs);
    for (std::size_t bit = 0; bit < bits; ++bit)
        masks[bit * blocks / bits * limbs + bit / 64] |= std::uint64_t{1} << (63 - bit % 64);
    return masks;
}

struct FoundStars {
    std::vector<std::int64_t> kept_for;
    std::vector<std::uint16_t> distances;

    bool operator==(const FoundStars&) const = default;
};

// The left rows in order, after the right ones, which are kept; by comparing each with all kept.
FoundStars naive_stars(const Sides& sides, std::uint32_t most, bool keeps) {
    FoundStars found;
    std::vector<std::size_t> kept;
    for (std::size_t i = sides.left_count; i < sides.count(); ++i) kept.push_back(i);
    for (std::size_t i = 0; i < sides.left_count; ++i) {
        std::size_t best = i;
        std::uint32_t nearest = most + 1;
        for (const std::size_t other : kept) {
            std::uint32_t distance = 0;
            for (std::size_t limb = 0; limb < sides.limbs; ++limb)
                distance += static_cast<std::uint32_t>(
                    std::popcount(sides.row(i)[limb] ^ sides.row(other)[limb]));
            if (distance >= nearest) continue;
            nearest = distance;
            best = other;
        }
        if (best == i && keeps) kept.push_back(i);
        found.kept_for.push_back(static_cast<std::int64_t>(best));
        found.distances.push_back(best == i ? 0 : static_cast<std::uint16_t>(nearest));
    }
    return found;
}

// In two visits, so that the second finds what the first has kept.
FoundStars stars_of(const Sides& sides, const Masks& masks, std::size_t bits, std::uint32_t most,
                    bool keeps, std::size_t threads, const std::string& isa) {
    StarSearch search(masks, sides.limbs, bits, most, hamming_kernels_for(isa),
                      table_kernels_for(isa));
    const std::size_t count = sides.left_count, half = count / 2;
    std::vector<std::int64_t> documents(count);
    for (std::size_t i = 0; i < count; ++i) documents[i] = static_cast<std::int64_t>(i);
    FoundStars found{std::vector<std::int64_t>(count), std::vector<std::uint16_t>(count)};
    search.keep(sides.right, sides.right_count, static_cast<std::int64_t>(count), threads);
    search.visit(sides.left, documents.data(), half, keeps, threads, found.kept_for.data(),
                 found.distances.data());
    search.visit(sides.left + half * sides.limbs, documents.data() + half, count - half, keeps,
                 threads, found.kept_for.data() + half, found.distances.data() + half);
    return found;
}

void check_stars(Random& random, const NearRows& rows, long seed) {
    const Sides sides = rows.sides();
    const auto most =
        static_cast<std::uint32_t>(below(random, std::min<std::size_t>(rows.bits, 14)));
    const bool keeps = below(random, 3) != 0;
    const FoundStars expected = naive_stars(sides, most, keeps);
    const std::vector<std::uint64_t> masks = block_masks(rows.bits, most + 1);
    for (const std::string& isa : available_isas())
        for (const std::size_t count : {std::size_t{0}, std::size_t{most} + 1})
            for (const std::size_t threads : {1, 3})
                CHECK_CASE(stars_of(sides, {masks.data(), count}, rows.bits, most, keeps, threads,
                                    isa) == expected,
                           seed);
}

// Enough kept rows for tables and chains, and some that share a block.
void check_many_stars() {
    Random random(4);
    for (const std::size_t limbs : {1U, 3U}) {
        std::vector<std::uint64_t> rows(3000 * limbs);
        for (std::uint64_t& limb : rows) limb = random();
        for (std::size_t i = 0; i < 1000; ++i) {
            rows[i * limbs] &= i % 2 == 0 ? ~std::uint64_t{0} : ~std::uint64_t{0} >> 40;
            if (i % 5 == 0)
                std::copy_n(rows.data() + i * limbs, limbs, rows.data() + (i + 1500) * limbs);
            rows[(i + 1500) * limbs] ^= std::uint64_t{i % 3} << 17;
        }
        const Sides sides{rows.data(), 2500, rows.data() + 2500 * limbs, 500, limbs, true};
        const std::vector<std::uint64_t> masks = block_masks(64 * limbs, 3);
        const FoundStars expected = naive_stars(sides, 2, true);
        CHECK_CASE(std::count(expected.distances.begin(), expected.distances.end(), 1) > 50, limbs);
        for (const std::string& isa : available_isas())
            for (const std::size_t threads : {1, 2, 8})
                CHECK_CASE(stars_of(sides, {masks.data(), 3}, 64 * limbs, 2, true, threads, isa) ==
                               expected,
                           limbs);
    }
}

// Different rows of two limbs whose hashes, made as in groups.cpp, are all the same.
void check_equal_hashes(std::size_t different) {
    Random random(3);
    std::vector<std::uint64_t> rows;
    for (std::size_t i = 0; i < different; ++i) {
        const std::uint64_t first = random();
        std::uint64_t hash = first * 0x9E3779B97F4A7C15ULL;
        hash ^= hash >> 32;
        rows.insert(rows.end(), {first, std::rotl(hash, 29) ^ 12345});
    }
    const std::vector<std::uint64_t> again = rows;
    rows.insert(rows.end(), again.begin(), again.end());
    const std::vector<std::uint32_t> firsts =
        first_equals({rows.data(), rows.size() / 2, nullptr, 0, 2, false}, 1);
    bool right = true;
    for (std::size_t i = 0; i < firsts.size(); ++i) right = right && firsts[i] == i % different;
    CHECK_CASE(right, different);
}

// Enough rows for a table of slots in each bucket: none equal, few equal, many equal.
void check_many_groups() {
    Random random(5);
    for (const std::size_t limbs : {1U, 2U})
        for (const std::size_t equal : {0U, 50U, 9000U}) {
            const std::size_t count = 20'000;
            std::vector<std::uint64_t> rows(count * limbs);
            for (std::uint64_t& limb : rows) limb = random();
            std::vector<std::uint32_t> expected(count);
            std::iota(expected.begin(), expected.end(), 0U);
            for (std::size_t i = count - equal; i < count; ++i) {
                const std::size_t other = below(random, 10'000);
                std::copy_n(&rows[other * limbs], limbs, &rows[i * limbs]);
                expected[i] = static_cast<std::uint32_t>(other);
            }
            if (equal == 0) expected.clear();
            const Sides sides{rows.data(), count, nullptr, 0, limbs, false};
            for (const std::size_t threads : {1, 3})
                CHECK_CASE(first_equals(sides, threads) == expected, equal);
        }
}

// Enough rows for several threads, several digits and a radix sort of the pairs.
void check_many() {
    Random random(1);
    for (const std::size_t bits : {64U, 100U}) {
        const NearRows rows(random, bits, 6000);
        const HammingKernels& kernels = hamming_kernels_for("auto");
        const Triples expected = triples(scan_pairs(rows.sides(), nullptr, 3, 1, kernels));
        CHECK_CASE(std::is_sorted(expected.begin(), expected.end()), bits);
        for (const std::size_t threads : {1, 2, 3})
            CHECK_CASE(triples(join_within(rows.sides(), bits, 3, {}, {0.2, 3, 6}, threads,
                                           kernels)) == expected,
                       bits);
    }
}

// A bucket so large that several threads divide it together: all rows share their upper bits.
void check_shared() {
    Random random(2);
    for (const std::size_t limbs : {1U, 2U}) {
        std::vector<std::uint64_t> rows(20'000 * limbs);
        for (std::size_t i = 0; i < rows.size(); i += limbs) rows[i] = random() >> 37;
        const Sides sides{rows.data(), rows.size() / limbs, nullptr, 0, limbs, false};
        const HammingKernels& kernels = hamming_kernels_for("auto");
        const Triples expected = triples(scan_pairs(sides, nullptr, 1, 2, kernels));
        CHECK_CASE(expected.size() > 10, limbs);
        for (const std::size_t threads : {1, 2, 3})
            CHECK_CASE(triples(join_within(sides, 64 * limbs, 1, {}, {0.2, 3, 6}, threads,
                                           kernels)) == expected,
                       limbs);
    }
}

}  // namespace

void test_hamming_join() {
    for (long seed = 0; seed < rounds(20); ++seed) {
        Random random(static_cast<std::uint64_t>(seed));
        for (const std::size_t bits : {1U, 7U, 32U, 63U, 64U, 65U, 128U, 256U, 1000U}) {
            const NearRows rows(random, bits, below(random, 120));
            check_within(random, rows, seed);
            check_masks(random, rows, seed);
            check_windows(random, rows, seed);
            check_groups(rows, seed);
            check_stars(random, rows, seed);
        }
    }
    check_equal_hashes(3);
    check_equal_hashes(40);
    check_many_groups();
    check_many();
    check_shared();
    check_many_stars();
}

}  // namespace neardup::tests
