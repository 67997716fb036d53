// Every kernel that has no test of its own, on every instruction set: the same as in plain C++.
#include <algorithm>
#include <bit>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "check.hpp"
#include "neardup/dispatch.hpp"
#include "neardup/hamming_join/kernels.hpp"
#include "neardup/index_tables/kernels.hpp"
#include "neardup/set_join/kernels.hpp"

namespace neardup::tests {

namespace {

std::uint32_t count_differing(const std::uint64_t* x, const std::uint64_t* y, std::size_t limbs) {
    std::uint32_t count = 0;
    for (std::size_t limb = 0; limb < limbs; ++limb)
        count += static_cast<std::uint32_t>(std::popcount(x[limb] ^ y[limb]));
    return count;
}

// Values in memory that ends with them, so that a sanitizer sees every byte read outside. Most
// differ from `base` in few bits.
template <typename T>
std::unique_ptr<T[]> drawn_near(Random& random, T base, std::size_t count) {
    std::unique_ptr<T[]> values(new T[count]);
    for (std::size_t i = 0; i < count; ++i) {
        values[i] = random() % 4 == 0 ? static_cast<T>(random()) : base;
        for (std::size_t flips = below(random, 9); flips != 0; --flips)
            values[i] ^= T{1} << below(random, 8 * sizeof(T));
    }
    return values;
}

void check_tags(const TableKernels& kernels, Random& random, long seed) {
    const auto tag = static_cast<std::uint32_t>(random());
    const auto tags = drawn_near(random, tag, kTagsAtOnce);
    for (const std::uint32_t exact :
         {0U, ~0U, 1U, 0x80000000U, static_cast<std::uint32_t>(random())})
        for (const std::uint32_t most : {0U, 1U, 4U, 7U, 16U, 31U, 32U, 40U}) {
            std::uint32_t expected = 0;
            for (std::size_t i = 0; i < kTagsAtOnce; ++i) {
                const std::uint32_t differ = tag ^ tags[i];
                const bool near = static_cast<std::uint32_t>(std::popcount(differ)) <= most;
                expected |= static_cast<std::uint32_t>(near && (differ & exact) == 0) << i;
            }
            CHECK_CASE(kernels.near_tags(tags.get(), tag, exact, most) == expected, seed);
        }
}

void check_distance(const TableKernels& kernels, Random& random, long seed) {
    for (std::size_t limbs = 1; limbs <= 40; ++limbs) {
        const auto x = drawn_near(random, random(), limbs), y = drawn_near(random, x[0], limbs);
        CHECK_CASE(
            kernels.distance(x.get(), y.get(), limbs) == count_differing(x.get(), y.get(), limbs),
            seed);
    }
}

void check_parity(const SetKernels& kernels, Random& random, long seed) {
    for (std::size_t row_words = 1; row_words <= 256; row_words *= 2)
        for (std::size_t words = 1; words <= row_words; words *= 2) {
            const std::size_t count = below(random, 12);
            const auto bitmap = drawn_near(random, std::uint64_t{0}, words);
            const auto rows = drawn_near(random, ~std::uint64_t{0}, count * row_words);
            std::vector<std::uint32_t> expected;
            for (std::size_t i = 0; i < count; ++i) {
                std::vector<std::uint64_t> folded(words);
                for (std::size_t at = 0; at < row_words; ++at)
                    folded[at % words] ^= rows[i * row_words + at];
                expected.push_back(count_differing(folded.data(), bitmap.get(), words));
            }
            std::vector<std::uint32_t> distances(count);
            kernels.parity_distances(bitmap.get(), words, rows.get(), row_words, count,
                                     distances.data());
            CHECK_CASE(distances == expected, seed);
        }
}

using Found = std::vector<std::tuple<std::size_t, std::size_t, std::uint32_t>>;

OnPair into(Found& found) {
    return {[](void* to, std::size_t i, std::size_t j, std::uint32_t distance) {
                static_cast<Found*>(to)->emplace_back(i, j, distance);
            },
            &found};
}

void check_tile(const HammingKernels& kernels, Random& random, long seed) {
    for (const std::size_t limbs : {1, 2, 3, 8, 17}) {
        const std::size_t count = 1 + below(random, 70), first = below(random, count);
        const auto row = drawn_near(random, random(), limbs);
        // Each limb of all rows is near that of the row.
        std::vector<std::uint64_t> drawn;
        for (std::size_t limb = 0; limb < limbs; ++limb) {
            const auto near = drawn_near(random, row[limb], count);
            drawn.insert(drawn.end(), near.get(), near.get() + count);
        }
        const std::unique_ptr<std::uint64_t[]> tile(new std::uint64_t[drawn.size()]);
        std::copy(drawn.begin(), drawn.end(), tile.get());
        const std::size_t start = below(random, 1000);
        for (const std::uint32_t most : {0U, 3U, 7U, 20U, 64U * static_cast<unsigned>(limbs)}) {
            Found expected, found;
            for (std::size_t j = first; j < count; ++j) {
                std::uint32_t distance = 0;
                for (std::size_t limb = 0; limb < limbs; ++limb)
                    distance += static_cast<std::uint32_t>(
                        std::popcount(row[limb] ^ tile[limb * count + j]));
                if (distance <= most) expected.emplace_back(7, start + j, distance);
            }
            kernels.compare_tile(row.get(), 7, {tile.get(), count, limbs, start}, start + first,
                                 start + count, most, into(found));
            CHECK_CASE(found == expected, seed);
        }
    }
}

// Buckets of one side or two, of one limb or more.
void check_buckets(const HammingKernels& kernels, Random& random, long seed) {
    for (const std::size_t limbs : {1, 2, 5})
        for (const bool two : {false, true}) {
            const std::size_t left = below(random, 600), right = two ? below(random, 600) : 0;
            const std::size_t count = left + right;
            const auto rows = drawn_near(random, random(), std::max<std::size_t>(count, 1) * limbs);
            const Sides sides{rows.get(), left, rows.get() + left * limbs, right, limbs, two};
            std::vector<std::uint32_t> places, starts{0};
            const std::size_t buckets = 1 + below(random, 5);
            for (std::size_t bucket = 0; bucket < buckets; ++bucket) {
                for (std::size_t place = bucket; place < count; place += buckets)
                    places.push_back(static_cast<std::uint32_t>(place));
                starts.push_back(static_cast<std::uint32_t>(places.size()));
            }
            std::vector<std::uint64_t> values(places.size() + kPadding, random());
            for (std::size_t item = 0; item < places.size(); ++item)
                values[item] = *sides.row(places[item]);
            std::vector<std::uint64_t> room(limbs * kTileRows + kPadding);
            const std::size_t largest = random() % 2 == 0 ? 100 : 1200;
            const Buckets all{values.data(), places.data(), starts.data(), buckets, largest};
            for (const std::uint32_t most : {0U, 3U, kFewBits, kFewBits + 1, 20U}) {
                const Screen screen{
                    static_cast<int>(below(random, 64)), static_cast<int>(below(random, 64)),
                    static_cast<std::uint16_t>(random() % 2 == 0 ? 0 : random() | random()),
                    static_cast<std::uint32_t>(below(random, 4))};
                Found expected, found, unsought;
                for (std::size_t bucket = 0; bucket < buckets; ++bucket) {
                    if (starts[bucket + 1] - starts[bucket] > largest) continue;
                    for (std::size_t i = starts[bucket]; i < starts[bucket + 1]; ++i)
                        for (std::size_t j = i + 1; j < starts[bucket + 1]; ++j) {
                            if (two && (places[i] >= left || places[j] < left)) continue;
                            const std::uint32_t distance =
                                count_differing(sides.row(places[i]), sides.row(places[j]), limbs);
                            if (distance > most) continue;
                            const int seen =
                                std::popcount(static_cast<unsigned>(screen.of(values[i])) ^
                                              static_cast<unsigned>(screen.of(values[j])));
                            const bool sought =
                                limbs > 1 || static_cast<std::uint32_t>(seen) <= screen.most;
                            (sought ? expected : unsought).emplace_back(i, j, distance);
                        }
                }
                if (limbs == 1)
                    kernels.compare_limbs(all, sides, most, screen, into(found));
                else
                    kernels.compare_rows(all, sides, most, room.data(), into(found));
                std::sort(found.begin(), found.end());
                // Whatever bits are looked at first, every pair that is sought is found once.
                if (limbs == 1 && screen.quarter == 0)
                    expected.insert(expected.end(), unsought.begin(), unsought.end());
                std::sort(expected.begin(), expected.end());
                CHECK_CASE(found == expected, seed);
            }
        }
}

}  // namespace

void test_kernels() {
    for (const std::string& isa : available_isas())
        for (long seed = 0; seed < rounds(40); ++seed) {
            Random random(static_cast<std::uint64_t>(seed));
            check_tags(table_kernels_for(isa), random, seed);
            check_distance(table_kernels_for(isa), random, seed);
            check_parity(set_kernels_for(isa), random, seed);
            check_tile(hamming_kernels_for(isa), random, seed);
            check_buckets(hamming_kernels_for(isa), random, seed);
        }
}

}  // namespace neardup::tests
