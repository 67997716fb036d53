#include <algorithm>
#include <bit>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "check.hpp"
#include "neardup/dispatch.hpp"
#include "neardup/index_tables/memory_tables.hpp"
#include "neardup/index_tables/segment.hpp"

namespace neardup::tests {

namespace {

using Row = std::vector<std::uint64_t>;
using Documents = std::map<std::uint64_t, Row>;  // by number

// A plan on so many bits, and rows around a few centres.
struct Plan {
    std::size_t bits, limbs;
    std::vector<std::uint64_t> masks;
    std::vector<Row> rows;

    Plan(Random& random, std::size_t width) : bits(width), limbs((width + 63) / 64) {
        for (std::size_t i = below(random, 5); i != 0; --i) {
            const bool few = below(random, 2) == 0;
            for (std::size_t limb = 0; limb < limbs; ++limb) {
                const std::uint64_t some = random() & random();
                masks.push_back(few ? some & random() & random() : some);
            }
            cut(masks.back());
        }
        masks.shrink_to_fit();
        std::vector<Row> centres(1 + below(random, 8), Row(limbs));
        for (Row& centre : centres)
            for (std::uint64_t& limb : centre) limb = random();
        for (std::size_t i = 0; i < 40; ++i) {
            Row row = centres[below(random, centres.size())];
            for (std::size_t flips = below(random, 4); flips != 0; --flips)
                row[below(random, limbs)] ^= std::uint64_t{1} << below(random, 64);
            cut(row.back());
            rows.push_back(row);
        }
    }

    std::size_t mask_count() const { return masks.size() / limbs; }

    bool agree(const Row& x, const Row& y) const {
        for (std::size_t mask = 0; mask < mask_count(); ++mask) {
            bool all = true;
            for (std::size_t limb = 0; limb < limbs; ++limb)
                all = all && ((x[limb] ^ y[limb]) & masks[mask * limbs + limb]) == 0;
            if (all) return true;
        }
        return false;
    }

  private:
    void cut(std::uint64_t& last) const {
        if (bits % 64 != 0) last &= ~(~std::uint64_t{0} >> bits % 64);
    }
};

using Found =
    std::tuple<std::vector<std::size_t>, std::vector<std::uint64_t>, std::vector<std::uint16_t>>;

Found found_of(const FoundMatches& matches) {
    return {matches.counts, matches.numbers, matches.distances};
}

Found naive(const Plan& plan, const Documents& documents, std::uint32_t most, std::size_t limit) {
    Found found;
    auto& [counts, numbers, distances] = found;
    for (const Row& query : plan.rows) {
        std::vector<std::pair<std::uint32_t, std::uint64_t>> near;
        for (const auto& [number, row] : documents) {
            std::uint32_t distance = 0;
            for (std::size_t limb = 0; limb < plan.limbs; ++limb)
                distance += static_cast<std::uint32_t>(std::popcount(query[limb] ^ row[limb]));
            if (distance <= most && plan.agree(query, row)) near.emplace_back(distance, number);
        }
        std::sort(near.begin(), near.end());
        counts.push_back(std::min(near.size(), limit));
        for (std::size_t i = 0; i < counts.back(); ++i) {
            distances.push_back(static_cast<std::uint16_t>(near[i].first));
            numbers.push_back(near[i].second);
        }
    }
    return found;
}

// Documents side by side, in memory that ends with the last of them.
struct Columns {
    Row numbers, rows;

    void add(std::uint64_t number, const Row& row) {
        numbers.push_back(number);
        rows.insert(rows.end(), row.begin(), row.end());
    }
    // This moves them: take their addresses afterwards.
    std::size_t count() {
        numbers.shrink_to_fit();
        rows.shrink_to_fit();
        return numbers.size();
    }
};

Columns columns_of(const Documents& documents) {
    Columns columns;
    for (const auto& [number, row] : documents) columns.add(number, row);
    return columns;
}

Row query_rows(const Plan& plan) {
    Row rows;
    for (const Row& row : plan.rows) rows.insert(rows.end(), row.begin(), row.end());
    rows.shrink_to_fit();
    return rows;
}

// A segment in memory of just its size.
struct Written {
    std::size_t size;
    std::unique_ptr<std::uint64_t[]> limbs;

    Written(const Plan& plan, Columns columns) {
        const std::size_t count = columns.count();
        const SegmentWriter writer(columns.numbers.data(), columns.rows.data(), count,
                                   plan.masks.data(), plan.mask_count(), plan.bits);
        size = writer.bytes();
        limbs = std::make_unique<std::uint64_t[]>(size / 8);
        writer.write(data());
    }
    std::uint8_t* data() { return reinterpret_cast<std::uint8_t*>(limbs.get()); }
    std::uint32_t& half(std::size_t i) { return reinterpret_cast<std::uint32_t*>(limbs.get())[i]; }

    // Make the sums agree with whatever is there.
    void forge(const Plan& plan) {
        const std::size_t body = 10 + plan.masks.size();
        limbs[7] = segment_checksum(&limbs[body], size / 8 - body);
        limbs[9] = segment_checksum(&limbs[0], 9);
    }
};

// Add, replace and remove at random, and compare with a map.
void check_changes(std::uint64_t seed, std::size_t bits, const std::string& isa) {
    Random random(seed);
    const Plan plan(random, bits);
    const Row queries = query_rows(plan);
    MemoryTables tables(plan.masks.data(), plan.mask_count(), plan.limbs, bits,
                        table_kernels_for(isa));
    Documents documents;
    for (int step = 0; step < 12; ++step) {
        Columns come, go;
        for (const auto& [number, row] : documents)
            if (below(random, 3) == 0) go.add(number, row);
        bool refused = false;
        if (below(random, 4) == 0) {
            go.add(1'000'000, plan.rows[0]);
            const std::size_t count = go.count();
            try {
                tables.remove(go.numbers.data(), go.rows.data(), count);
            } catch (const std::invalid_argument&) {
                refused = true;
            }
            CHECK_CASE(refused, seed);
        } else {
            const std::size_t count = go.count();
            tables.remove(go.numbers.data(), go.rows.data(), count);
            for (const std::uint64_t number : go.numbers) documents.erase(number);
        }
        for (std::size_t i = below(random, 60); i != 0; --i) {
            const std::uint64_t number = below(random, 500);
            const Row& row = plan.rows[below(random, plan.rows.size())];
            if (documents.emplace(number, row).second) come.add(number, row);
        }
        std::vector<std::uint32_t> places(come.count());
        tables.add(come.numbers.data(), come.rows.data(), places.size(), places.data());

        CHECK_CASE(tables.size() == documents.size(), seed);
        std::set<Row> distinct;
        for (const auto& [number, row] : documents) distinct.insert(row);
        CHECK_CASE(tables.distinct() == distinct.size(), seed);
        const auto most = static_cast<std::uint32_t>(below(random, bits + 1));
        const std::size_t limit = below(random, 2) == 0 ? 1000 : below(random, 6);
        const Query query{queries.data(), plan.rows.size(), plan.limbs, most, limit};
        const Found expected = naive(plan, documents, most, limit);
        CHECK_CASE(found_of(tables.query(query, 1)) == expected, seed);

        Written written(plan, columns_of(documents));
        const Segment segment(written.data(), written.size);
        segment.check();
        CHECK_CASE(
            found_of(segment.query(query, {nullptr, 0}, 1, table_kernels_for(isa))) == expected,
            seed);
        const Documents alive(documents.lower_bound(250), documents.end());
        std::vector<std::uint64_t> dead;
        for (std::uint64_t number = 0; number < 250; ++number) dead.push_back(number);
        CHECK_CASE(
            found_of(segment.query(query, {dead.data(), dead.size()}, 1, table_kernels_for(isa))) ==
                naive(plan, alive, most, limit),
            seed);
    }
}

bool refuses(Written& written, const Plan& plan, const Row& queries) {
    try {
        const Segment segment(written.data(), written.size);
        const Query query{queries.data(), plan.rows.size(), plan.limbs, 4096, 1000};
        segment.query(query, {nullptr, 0}, 1, table_kernels_for("auto"));
        segment.check();
        NumberedRows all;
        segment.append_rows({nullptr, 0}, all);
    } catch (const std::invalid_argument&) {
        return true;
    }
    return false;
}

// Any damage is found, and with forged sums nothing outside is read, which the sanitizer sees.
void check_damage(std::uint64_t seed, std::size_t bits) {
    Random random(seed);
    const Plan plan(random, bits);
    const Row queries = query_rows(plan);
    Documents documents;
    for (const Row& row : plan.rows) documents.emplace(below(random, 1000), row);
    for (int step = 0; step < 40; ++step) {
        Written written(plan, columns_of(documents));
        CHECK_CASE(!refuses(written, plan, queries), seed);
        written.data()[below(random, written.size)] ^=
            static_cast<std::uint8_t>(1 + below(random, 255));
        CHECK_CASE(refuses(written, plan, queries), seed);

        Written forged(plan, columns_of(documents));
        const std::size_t body = 20 + 2 * plan.masks.size(), halves = forged.size / 4 - body;
        for (int i = 0; i < 4; ++i)
            forged.half(body + below(random, halves)) = static_cast<std::uint32_t>(
                below(random, 2) == 0 ? random() : below(random, documents.size() + 2));
        if (below(random, 4) == 0)
            forged.limbs[2 + below(random, 5)] = random() >> below(random, 64);
        forged.forge(plan);
        refuses(forged, plan, queries);  // or not: it depends on where it is read
    }
}

// So many that tables grow, chunks are used again, and several threads have something to do.
void check_many() {
    Random random(5);
    constexpr std::size_t kCount = 30'000;
    const std::vector<std::uint64_t> masks{0xFFFF000000000000, 0xFFFF00000000, 0xFFFF0000, 0xFFFF};
    MemoryTables tables(masks.data(), masks.size(), 1, 64, table_kernels_for("auto"));
    std::vector<std::uint64_t> numbers, rows;
    for (std::size_t i = 0; i < kCount; ++i) {
        numbers.push_back(i);
        rows.push_back(random());
    }
    std::vector<std::uint32_t> places(kCount);
    tables.add(numbers.data(), rows.data(), kCount, places.data());
    tables.remove(numbers.data() + kCount / 3, rows.data() + kCount / 3, kCount / 3);
    tables.add(numbers.data() + kCount / 3, rows.data() + kCount / 3, kCount / 3,
               places.data() + kCount / 3);
    std::vector<std::uint64_t> held(kCount);
    tables.rows_at(places.data(), kCount, held.data());
    CHECK(held == rows);
    std::vector<std::uint64_t> queries = rows;
    for (std::uint64_t& query : queries) query ^= std::uint64_t{1} << below(random, 64);
    const Query query{queries.data(), kCount, 1, 3, 2};
    const FoundMatches found = tables.query(query, 1);
    CHECK(std::count(found.counts.begin(), found.counts.end(), 0) == 0);
    CHECK(found.numbers == numbers);
    for (const std::size_t threads : {2, 3})
        CHECK_CASE(found_of(tables.query(query, threads)) == found_of(found), threads);
    tables.remove(numbers.data(), rows.data(), kCount);
    CHECK(tables.size() == 0 && tables.distinct() == 0);
    CHECK(tables.query(query, 1).numbers.empty());
}

}  // namespace

void test_index_tables() {
    for (std::uint64_t seed = 0; seed < 6; ++seed)
        for (const std::size_t bits : {1U, 7U, 32U, 63U, 64U, 65U, 128U, 200U}) {
            for (const std::string& isa : available_isas()) check_changes(seed, bits, isa);
            check_damage(seed, bits);
        }
    check_many();
}

}  // namespace neardup::tests
