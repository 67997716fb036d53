#include "neardup/set_join/join.hpp"

#include <stdio.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <vector>

#include "check.hpp"
#include "neardup/set_join/alike.hpp"
#include "neardup/set_join/buckets.hpp"
#include "neardup/set_join/dense.hpp"
#include "neardup/set_join/exact_sum.hpp"
#include "neardup/set_join/first_features.hpp"
#include "neardup/set_join/frequencies.hpp"
#include "neardup/set_join/overlap.hpp"
#include "neardup/set_join/possible.hpp"
#include "neardup/set_join/star_join.hpp"

namespace neardup::tests {

namespace {

using Triples = std::vector<std::tuple<std::size_t, std::size_t, double>>;

// A few thousand features shared out to documents, many of which are edits of earlier ones. The
// arrays have no room behind their last value, so that a sanitizer sees every step too far.
struct Sample {
    std::vector<std::int64_t> offsets{0};
    std::vector<std::uint64_t> hashes;
    std::vector<double> weights;

    Sample(Random& random, std::size_t count) {
        std::vector<std::set<std::uint64_t>> documents;
        for (std::size_t i = 0; i < count; ++i) {
            std::set<std::uint64_t> document;
            if (i != 0 && below(random, 2) == 0) document = documents[below(random, i)];
            const std::size_t more = below(random, below(random, 4) == 0 ? 200 : 6);
            for (std::size_t k = 0; k < more; ++k) document.insert(below(random, 300) * 977);
            documents.push_back(document);
            hashes.insert(hashes.end(), document.begin(), document.end());
            offsets.push_back(static_cast<std::int64_t>(hashes.size()));
        }
        for (const std::uint64_t hash : hashes)
            weights.push_back(static_cast<double>(hash % 5 + below(random, 2)) / 3);
        offsets.shrink_to_fit();
        hashes.shrink_to_fit();
        weights.shrink_to_fit();
    }

    FeatureColumn column(bool weighted, std::size_t first, std::size_t last) const {
        return {offsets.data() + first, last - first, hashes.data(),
                weighted ? weights.data() : nullptr};
    }
};

Triples triples(const SetJoin& join) {
    Triples all;
    for (const SimilarPair& pair : join.pairs)
        all.emplace_back(pair.places >> 32, pair.places & 0xFFFFFFFF, pair.similarity);
    return all;
}

// Every pair, one by one.
Triples naive(const Collections& documents, Measure measure, double threshold) {
    std::vector<std::int64_t> a, b;
    const bool any_order = documents.two || measure == Measure::inclusion;
    for (std::size_t i = 0; i < documents.left.count; ++i)
        for (std::size_t j = any_order ? 0 : i + 1; j < documents.others().count; ++j) {
            if (!documents.two && i == j) continue;
            a.push_back(static_cast<std::int64_t>(i));
            b.push_back(static_cast<std::int64_t>(j));
        }
    std::vector<double> found(a.size());
    similarities(documents, {a.data(), b.data(), a.size()}, measure, 1, found.data());
    Triples all;
    for (std::size_t i = 0; i < a.size(); ++i)
        if (found[i] >= threshold) all.emplace_back(a[i], b[i], found[i]);
    return all;
}

// No document of a pair is lost, whatever the parts and the number of threads.
void check_possible(const Collections& documents, Measure measure, double threshold,
                    const Triples& pairs, long seed) {
    for (const std::size_t threads : {1, 3}) {
        SharedFilter filter(100, documents.two);
        filter.see(documents.left, false, nullptr, threads);
        if (documents.two) filter.see(documents.right, true, nullptr, threads);
        const FeatureColumn& others = documents.others();
        auto left = std::make_unique<bool[]>(documents.left.count + 1),
             right = std::make_unique<bool[]>(others.count + 1);
        std::fill_n(left.get(), documents.left.count, true);
        std::fill_n(right.get(), others.count, true);
        keep_possible(documents.left, measure, threshold, filter, threads, left.get());
        keep_possible(others, measure, threshold, filter, threads, right.get());
        for (const auto& [a, b, similarity] : pairs) CHECK_CASE(left[a] && right[b], seed);
    }
}

void check_join(const Collections& documents, Measure measure, long seed) {
    for (const double threshold : {0.1, 0.5, 2.0 / 3, 0.8, 1.0}) {
        const Triples expected = naive(documents, measure, threshold);
        const std::uint64_t predicted = predict_postings(documents, measure, threshold, 2);
        for (const std::size_t threads : {1, 2, 3}) {
            const SetJoin found = join_sets(documents, measure, threshold, predicted, threads);
            CHECK_CASE(triples(found) == expected, seed);
            CHECK_CASE(found.compared <= predicted && found.postings == predicted, seed);
        }
        if (predicted != 0) {
            const SetJoin refused = join_sets(documents, measure, threshold, predicted - 1, 2);
            CHECK_CASE(!refused.done && refused.pairs.empty(), seed);
        }
        check_possible(documents, measure, threshold, expected, seed);
    }
}

// What is decided on documents that are all open at first.
struct Decided {
    std::vector<std::int64_t> copy_of, kept_for;
    std::vector<Decision> decision;
    std::vector<double> similarity;

    explicit Decided(std::size_t count) : decision(count), similarity(count) {
        for (std::size_t i = 0; i < count; ++i) copy_of.push_back(static_cast<std::int64_t>(i));
        kept_for = copy_of;
    }

    Decisions view() {
        return {copy_of.data(), decision.data(), kept_for.data(), similarity.data()};
    }
    bool operator==(const Decided& other) const {
        return kept_for == other.kept_for && decision == other.decision &&
               similarity == other.similarity;
    }
};

// The documents of a sample: the first half in memory, the rest in a file.
class HalfInFile {
  public:
    HalfInFile(const Sample& sample, bool weighted) : stored(weighted), file_(std::tmpfile()) {
        const std::size_t count = sample.offsets.size() - 1, half = count / 2;
        const FeatureColumn column = sample.column(weighted, 0, half);
        stored.add({column.offsets, half, column.hashes, column.weights, -1, 0, 0, 0});
        const std::size_t bytes = sample.hashes.size() * 8;
        std::fwrite(sample.hashes.data(), 1, bytes, file_);
        std::fwrite(sample.weights.data(), 1, bytes, file_);
        std::fflush(file_);
        stored.add({sample.offsets.data() + half, count - half, nullptr, nullptr, fileno(file_), 0,
                    bytes, 0});
    }
    ~HalfInFile() { std::fclose(file_); }
    HalfInFile(const HalfInFile&) = delete;
    HalfInFile& operator=(const HalfInFile&) = delete;

    StoredFeatures stored;

  private:
    std::FILE* file_;
};

// The star join decides as the pairs do, whatever the threads and the memory.
void check_stars(const Sample& sample, bool weighted, Measure measure, Random& random, long seed) {
    const std::size_t count = sample.offsets.size() - 1;
    const FeatureColumn column = sample.column(weighted, 0, count);
    const HalfInFile half_in_file(sample, weighted);
    std::vector<std::int64_t> order(count);
    for (std::size_t i = 0; i < count; ++i) order[i] = static_cast<std::int64_t>(i);
    std::shuffle(order.begin(), order.end(), random);
    std::vector<std::size_t> turns(count);
    for (std::size_t i = 0; i < count; ++i) turns[static_cast<std::size_t>(order[i])] = i;
    for (const double threshold : {0.1, 0.5, 0.8, 1.0}) {
        std::vector<std::int64_t> a, b;
        std::vector<double> similarity;
        const Triples pairs = naive({column, {}, false}, measure, threshold);
        for (const auto& [x, y, found] : pairs) {
            // The later document is looked up, and is the one that is included.
            if (measure == Measure::inclusion && turns[x] < turns[y]) continue;
            a.push_back(static_cast<std::int64_t>(x));
            b.push_back(static_cast<std::int64_t>(y));
            similarity.push_back(found);
        }
        Decided expected(count);
        stars_of_pairs(order.data(), count, {a.data(), b.data(), a.size()}, similarity.data(),
                       expected.view(), count);
        for (const std::size_t threads : {1, 3})
            for (const std::size_t memory : {1, 40000, 1 << 30}) {
                if (memory == 1 && threshold != 0.5) continue;  // a pass for each kept document
                DocumentCounts counts(sample.hashes.size(), memory);
                counts.see(column, nullptr, threads);
                const auto join = star_join(half_in_file.stored, counts, measure, threshold,
                                            sample.hashes.size(), memory);
                Decided found(count);
                for (std::size_t done = 0; done < count;) {
                    done += join->decide(order.data() + done, count - done, found.view(), threads);
                    join->look_up(order.data() + done, count - done, found.view(), threads);
                    join->clear();
                }
                CHECK_CASE(found == expected, seed);
                std::vector<SimilarPair> listed;
                join->pairs(order.data(), count, {true, true, kAnyNumber}, threads, listed);
                if (memory == 1 << 30) CHECK_CASE(listed.size() == a.size(), seed);
            }
    }
}

// Counts are the same whatever the threads and portions, above what is exact too, in a table of one
// part or of several; one that is alone has 1.
void check_document_counts() {
    Random random(7);
    std::vector<std::int64_t> offsets{0};
    std::vector<std::uint64_t> hashes;
    std::vector<double> weights;
    for (std::size_t document = 0; document < 4000; ++document) {
        for (std::uint64_t common = 1; common < 40; ++common)
            if (below(random, common) == 0) hashes.push_back(common);
        hashes.push_back(random() | 1ULL << 63);
        while (weights.size() < hashes.size()) weights.push_back(below(random, 4) == 0 ? 0 : 1);
        offsets.push_back(static_cast<std::int64_t>(hashes.size()));
    }
    std::vector<char> flags(4000);
    for (char& flag : flags) flag = below(random, 3) != 0;
    const auto* wanted = reinterpret_cast<const bool*>(flags.data());
    for (const bool weighted : {false, true}) {
        const FeatureColumn column{offsets.data(), 4000, hashes.data(),
                                   weighted ? weights.data() : nullptr};
        for (const std::size_t features : {hashes.size(), std::size_t{1} << 20}) {
            DocumentCounts one(features, 1 << 20), three(features, 1 << 20);
            for (int time = 0; time < 12; ++time) {
                const bool* const flags_now = time % 2 == 0 ? nullptr : wanted;
                one.see(column, flags_now, 1);
                for (std::size_t first = 0; first < 4000; first += 1000)
                    three.see({offsets.data() + first, 1000, column.hashes, column.weights},
                              flags_now == nullptr ? nullptr : flags_now + first, 3);
            }
            one.finish(1);
            three.finish(3);
            bool same = true;
            for (const std::uint64_t hash : hashes) same &= one.of(hash) == three.of(hash);
            CHECK(same);
            CHECK(one.of(1) > 7 && one.of(1) > one.of(39));
        }
    }
    DocumentCounts alone(1 << 20, 1 << 30);
    const std::int64_t few[] = {0, 2, 4};
    const std::uint64_t own[] = {5, 6, 6, 7};
    alone.see({few, 2, own, nullptr}, nullptr, 2);
    alone.finish(2);
    CHECK(alone.of(5) == 1 && alone.of(6) == 2 && alone.of(7) == 1 && alone.of(8) == 0);
}

void check_frequencies() {
    CHECK(frequency_of(0) == 0 && frequency_of(127) == 127 && frequency_of(128) == 128);
    CHECK(frequency_of(143) == 128 && frequency_of(144) == 129 && frequency_of(256) == 136);
    CHECK(frequency_of(1U << 22) == 248 && frequency_of(~0U) == 255);
    Random random(11);
    for (const std::size_t count : {0, 1, 2, 300, 5000, 40000}) {
        for (const std::uint64_t distinct : {1ULL, 9ULL, 1ULL << 12, 1ULL << 40}) {
            for (const int width : {1, 4, 6}) {
                std::vector<std::uint64_t> hashes(count);
                std::map<std::uint64_t, std::uint32_t> expected;
                const int known_bits = kBucketBits + 8 * width;
                for (auto& hash : hashes) {
                    hash = below(random, distinct) << 24;
                    ++expected[hash >> (64 - known_bits)];
                }
                const auto sizes =
                    std::make_unique<BucketSizes>(bucket_sizes(hashes.data(), count));
                std::vector<std::uint8_t> values(count * static_cast<std::size_t>(width)),
                    answers(count), found(count);
                to_buckets(hashes.data(), count, *sizes, width, values.data());
                answer_frequencies({{sizes->data(), values.data(), answers.data()}}, kBuckets,
                                   width);
                from_buckets(hashes.data(), count, *sizes, answers.data(), found.data());
                bool same = true;
                for (std::size_t i = 0; i < count; ++i)
                    same &= found[i] == frequency_of(expected[hashes[i] >> (64 - known_bits)]);
                CHECK(same);
            }
        }
    }
}

void check_first_features() {
    const std::int64_t offsets[] = {0, 4, 4, 6};
    const std::uint8_t frequency[] = {9, 2, 1, 255, 1, 1};
    const double weights[] = {1, 2, 1, 4, 1, 1};
    using Numbers = std::vector<std::int64_t>;
    // The last document has nothing in common with others.
    auto found = first_features({offsets, 3, frequency, nullptr}, 0.5, false);
    CHECK((found.positions == Numbers{0, 1}) && (found.documents == Numbers{0, 0}));
    found = first_features({offsets, 3, frequency, weights}, 0.5, false);
    CHECK((found.positions == Numbers{0, 1, 3}) && (found.documents == Numbers{0, 0, 0}));
    CHECK((first_features({offsets, 3, frequency, weights}, 0.9, true).positions == Numbers{1}));
    CHECK((first_features({offsets, 3, frequency, nullptr}, 0.8, false).positions.empty()));
}

void check_linked_documents() {
    const std::uint64_t values[] = {5, 7, 5, 5, 7, 9, 9};
    const double sizes[] = {10, 3, 9, 4, 3, 9, 10};
    const std::int64_t documents[] = {40, 1, 20, 30, 2, 20, 10};
    using Numbers = std::vector<std::int64_t>;
    const auto found = link_alike({values, sizes, documents, 7}, 0.8);
    CHECK(found.links == 3);
    CHECK((found.documents == Numbers{1, 2, 10, 20, 40}));
    CHECK((found.firsts == Numbers{1, 1, 10, 10, 10}));
    for (std::size_t i = 0; i < found.documents.size(); ++i)
        CHECK(documents[found.postings[i]] == found.documents[i]);
    CHECK(link_alike({values, sizes, documents, 0}, 0.8).documents.empty());
}

void check_exact_sums() {
    const double half_way[] = {1, 0x1p-53, 0x1p-80};
    CHECK(exact_sum(half_way, 3) == 1 + 0x1p-52);
    CHECK(exact_sum(half_way, 2) == 1);
    CHECK(exact_sum(half_way, 0) == 0);
    Random random(5);
    for (long seed = 0; seed < rounds(300); ++seed) {
        std::vector<double> values(below(random, 40));
        for (double& value : values)
            value = static_cast<double>(random()) *
                    std::ldexp(1.0, static_cast<int>(below(random, 120)) - 60);
        const double sum = exact_sum(values.data(), values.size());
        CHECK_CASE(sum == slow_exact_sum(values.data(), values.size()), seed);
        std::reverse(values.begin(), values.end());
        CHECK_CASE(sum == exact_sum(values.data(), values.size()), seed);
    }
}

void check_shared_counts() {
    Random random(6);
    for (long seed = 0; seed < rounds(300); ++seed) {
        const std::size_t limit = 1 + below(random, 2000);
        std::set<std::uint64_t> some, others;
        for (std::size_t i = below(random, 300); i != 0; --i) some.insert(below(random, limit));
        for (std::size_t i = below(random, seed % 2 == 0 ? 300 : 9); i != 0; --i)
            others.insert(below(random, limit));
        const std::vector<std::uint64_t> a(some.begin(), some.end()),
            b(others.begin(), others.end());
        std::vector<std::uint64_t> both;
        std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
        CHECK_CASE(shared_count(a.data(), a.size(), b.data(), b.size()) == both.size(), seed);
        CHECK_CASE(shared_count(b.data(), b.size(), a.data(), a.size()) == both.size(), seed);
        const auto needed = static_cast<double>(below(random, 300));
        const std::size_t found = shared_if_enough(a.data(), a.size(), b.data(), b.size(), needed);
        const bool enough = static_cast<double>(both.size()) >= needed;
        CHECK_CASE(enough ? found == both.size() : static_cast<double>(found) < needed, seed);
    }
}

void check_components() {
    const std::vector<std::int64_t> a{5, 3, 1, 5}, b{4, 4, 2, 5};
    std::vector<std::int64_t> smallest(7);
    components(7, {a.data(), b.data(), a.size()}, smallest.data());
    CHECK((smallest == std::vector<std::int64_t>{0, 1, 1, 3, 3, 3, 6}));
    components(0, {nullptr, nullptr, 0}, nullptr);
}

// Two groups with one pair between them, and a document of another collection at either end.
void check_dense_clusters() {
    const std::vector<std::int64_t> documents{1, 1, 2, 1, 1, 1, 1, 1};
    const std::vector<std::int64_t> a{0, 0, 1, 3, 4, 3, 2, 0, 5}, b{1, 2, 2, 4, 5, 5, 3, 6, 7};
    const std::vector<std::int64_t> apart_a{1}, apart_b{4};
    const PairList pairs{a.data(), b.data(), a.size()}, nothing{nullptr, nullptr, 0};
    const auto clusters = [&](double share, std::size_t certain, const PairList& apart) {
        std::vector<std::int64_t> smallest(8);
        dense_clusters(8, {documents.data(), 6}, pairs, certain, apart, share, smallest.data());
        return smallest;
    };
    using Clusters = std::vector<std::int64_t>;
    CHECK((clusters(0.25, 0, nothing) == Clusters{0, 0, 0, 3, 3, 3, 0, 3}));
    CHECK((clusters(0.3, 0, nothing) == Clusters{0, 0, 0, 3, 3, 3, 6, 3}));
    CHECK((clusters(1e-9, 0, nothing) == Clusters{0, 0, 0, 0, 0, 0, 0, 0}));
    CHECK((clusters(1, 7, nothing) == Clusters{0, 0, 0, 0, 0, 0, 6, 7}));
    CHECK((clusters(1e-9, 9, {apart_a.data(), apart_b.data(), 1}) ==
           Clusters{0, 0, 0, 3, 3, 3, 0, 3}));
    dense_clusters(0, {nullptr, 0}, nothing, 0, nothing, 0.5, nullptr);
}

}  // namespace

void test_set_join() {
    check_document_counts();
    check_frequencies();
    check_first_features();
    check_linked_documents();
    check_exact_sums();
    check_shared_counts();
    check_components();
    check_dense_clusters();
    for (long seed = 0; seed < rounds(12); ++seed) {
        Random random(static_cast<std::uint64_t>(seed));
        const std::size_t count = below(random, 90), half = below(random, count + 1);
        const Sample sample(random, count);
        for (const Measure measure : {Measure::jaccard, Measure::weighted_jaccard, Measure::cosine,
                                      Measure::containment, Measure::inclusion})
            for (const bool weighted : {false, true}) {
                if (weighted && measure == Measure::jaccard) continue;
                check_stars(sample, weighted, measure, random, seed);
                check_join({sample.column(weighted, 0, count), {}, false}, measure, seed);
                check_join(
                    {sample.column(weighted, 0, half), sample.column(weighted, half, count), true},
                    measure, seed);
            }
    }
}

}  // namespace neardup::tests
