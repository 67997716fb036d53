#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <limits>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "check.hpp"
#include "neardup/dispatch.hpp"
#include "neardup/set_index/search.hpp"

namespace neardup::tests {

namespace {

using Words = std::vector<std::uint64_t>;

struct Columns {
    std::vector<std::int64_t> offsets{0};
    Words hashes;
    std::vector<double> weights;

    void add(const std::set<std::uint64_t>& features, double weight) {
        for (const std::uint64_t feature : features) {
            hashes.push_back(feature);
            weights.push_back(weight);
            weight = weight > 5 ? 0.3 : weight + 1;
        }
        offsets.push_back(static_cast<std::int64_t>(hashes.size()));
    }
    SetDocuments made(const SetPlan& plan) const {
        return SetDocuments(plan,
                            {offsets.data(), offsets.size() - 1, hashes.data(), weights.data()}, 2);
    }
};

// Sets of few features, edits of others, and a family of which all share a band.
Columns some_documents(Random& random, std::size_t count, std::size_t family) {
    Columns columns;
    std::vector<std::set<std::uint64_t>> sets(1);
    const auto feature = [&] { return below(random, 4) == 0 ? below(random, 30) << 32 : random(); };
    for (std::size_t i = 0; i < 50; ++i) sets[0].insert(feature());
    for (std::size_t i = 0; i < count + family; ++i) {
        std::set<std::uint64_t> set;
        if (i >= count || below(random, 2) == 0)
            set = i >= count ? sets[0] : sets[below(random, sets.size())];
        else
            for (std::size_t more = below(random, 70); more != 0; --more) set.insert(feature());
        for (std::size_t edits = below(random, 8); edits != 0 && !set.empty(); --edits) {
            set.erase(set.begin());
            set.insert(feature());
        }
        sets.push_back(set);
        columns.add(set, 1 + static_cast<double>(below(random, 5)));
    }
    return columns;
}

// Records in memory of just their size, so that the sanitizer sees every byte read outside.
struct Records {
    std::vector<std::uint8_t> bytes;
    FeatureBlock block{};

    Records(const SetDocuments& documents, std::size_t from, std::size_t to) {
        block.first = 100 + 2 * from;
        block.documents = to - from;
        std::vector<std::uint32_t> numbers, starts{0};
        std::vector<std::int64_t> expires;
        for (std::size_t i = from; i < to; ++i) {
            numbers.push_back(static_cast<std::uint32_t>(2 * (i - from)));
            expires.push_back(expiry(i));
            starts.push_back(starts.back() + static_cast<std::uint32_t>(documents.stored_bytes(i)));
        }
        put(numbers.data(), 4 * numbers.size());
        block.expires = put(expires.data(), 8 * expires.size());
        block.starts = put(starts.data(), 4 * starts.size());
        block.features = bytes.size();
        bytes.resize(bytes.size() + starts.back());
        for (std::size_t i = from; i < to; ++i)
            documents.store(i, bytes.data() + block.features + starts[i - from]);
        bytes.shrink_to_fit();
        block.data = bytes.data();
        block.size = bytes.size();
    }
    Records(const Records&) = delete;

    static std::uint64_t number(std::size_t place) { return 100 + 2 * place; }
    static std::int64_t expiry(std::size_t place) { return place % 9 == 8 ? 10 : kNoExpiry; }

  private:
    std::size_t put(const void* from, std::size_t size) {
        const std::size_t at = bytes.size();
        bytes.resize(at + size);
        if (size != 0) std::memcpy(bytes.data() + at, from, size);
        return at;
    }
};

const std::uint8_t* bytes_of(const Words& words) {
    return reinterpret_cast<const std::uint8_t*>(words.data());
}

bool same(const std::vector<SetMatch>& x, const std::vector<SetMatch>& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), [](auto& a, auto& b) {
        return a.similarity == b.similarity && a.number == b.number;
    });
}

// Two segments find what a look at all documents finds; with bands, nothing else.
void test_search(Random& random, const SetPlan& plan, long round) {
    const SetKernels& kernels = set_kernels_for("auto");
    const SetDocuments documents = some_documents(random, 60, below(random, 2) * 150).made(plan);
    const std::size_t half = below(random, documents.size() + 1);
    const Records left(documents, 0, half), right(documents, half, documents.size());
    SetTail tail(plan);
    for (std::size_t i = 0; i < documents.size(); ++i)
        tail.add(documents, i, Records::number(i), Records::expiry(i), 1);
    Words dead;
    for (std::size_t i = 0; i < documents.size(); ++i)
        if (below(random, 10) == 0) {
            dead.push_back(Records::number(i));
            tail.remove(dead.back(), 2);
        }
    const Words first = pack_sets(plan, {left.block}, {nullptr, 0, true}, 2),
                second = pack_sets(plan, {right.block}, {nullptr, 0, true}, 1);
    const SetSegment one(bytes_of(first), first.size() * 8, {left.block}),
        two(bytes_of(second), second.size() * 8, {right.block});
    one.check();
    two.check();
    const DeadNumbers gone{dead.data(), dead.size()};
    const SetView packed{{&one, &two}, {gone, gone}, nullptr, 0}, brute{{}, {}, &tail, 2};
    for (std::size_t i = 0; i < documents.size(); i += 3) {
        const std::size_t limit = below(random, 3) == 0 ? below(random, 12) : ~std::size_t{0};
        const SetQuestion question{std::min(1.0, plan.threshold + 0.1 * (i % 3)), limit, 10};
        const std::uint64_t skip = i % 2 == 0 ? Records::number(i) : kNoNumber;
        const auto found = search_set(packed, documents.at(i), plan, question, skip, kernels);
        const auto all = search_set(brute, documents.at(i), plan, question, skip, kernels);
        if (plan.bands == 0) {
            CHECK_CASE(same(found, all), round);
        } else if (limit > documents.size()) {
            CHECK_CASE(std::includes(all.begin(), all.end(), found.begin(), found.end()), round);
            if (skip == kNoNumber && !all.empty())
                CHECK_CASE(!found.empty() && found[0].number == all[0].number, round);
        }
    }
}

// Whether a segment can be opened and asked; anything but std::invalid_argument ends the tests.
bool answers(const Words& words, std::size_t size, const FeatureBlock& block,
             const SetDocuments& documents) {
    try {
        const SetSegment segment(bytes_of(words), size, {block});
        const SetView view{{&segment}, {{nullptr, 0}}, nullptr, 0};
        for (std::size_t i = 0; i < documents.size(); i += 3)
            search_set(view, documents.at(i), documents.plan(), {1, 3, 0}, kNoNumber,
                       set_kernels_for("auto"));
        segment.check();
    } catch (const std::invalid_argument&) {
        return false;
    }
    return true;
}

constexpr std::size_t kHeadWords = sizeof(SetSegmentHead) / 8;

void make_sums_agree(Words& words) {
    words[kHeadWords - 2] = segment_checksum(&words[kHeadWords], words.size() - kHeadWords);
    words[kHeadWords - 1] = segment_checksum(words.data(), kHeadWords - 1);
}

void test_damage(Random& random, const SetPlan& plan) {
    const SetDocuments documents = some_documents(random, 20, 70).made(plan);
    const Records records(documents, 0, documents.size());
    const Words sound = pack_sets(plan, {records.block}, {nullptr, 0, true}, 1);
    CHECK(answers(sound, sound.size() * 8, records.block, documents));
    for (long round = 0; round < rounds(1500); ++round) {
        Words words = sound;
        auto* bytes = reinterpret_cast<std::uint8_t*>(words.data());
        const std::size_t at = below(random, round % 3 == 0 ? 200 : words.size() * 8);
        bytes[at] ^= static_cast<std::uint8_t>(1 + below(random, 255));
        CHECK_CASE(!answers(words, words.size() * 8, records.block, documents), round);
        if (round % 2 == 0) words[below(random, words.size())] = random() >> below(random, 64);
        words[0] = sound[0];
        make_sums_agree(words);
        answers(words, words.size() * 8, records.block, documents);
    }
    for (std::size_t size = 0; size < sound.size() * 8; size += 1 + below(random, 40)) {
        Words cut(sound.begin(), sound.begin() + static_cast<long>((size + 7) / 8));
        cut.shrink_to_fit();
        CHECK(!answers(cut, size, records.block, documents));
    }
    const auto copy = records.bytes;
    for (long round = 0; round < rounds(1500); ++round) {
        std::vector<std::uint8_t> bytes = copy;
        FeatureBlock block = records.block;
        bytes[below(random, round % 2 == 0 ? block.features + 40 : bytes.size())] ^=
            static_cast<std::uint8_t>(1 + below(random, 255));
        if (round % 5 == 0) bytes.resize(below(random, bytes.size()));
        bytes.shrink_to_fit();
        block.data = bytes.data();
        block.size = bytes.size();
        std::size_t* const fields[] = {&block.documents, &block.numbers, &block.expires,
                                       &block.starts, &block.features};
        if (round % 3 == 0) *fields[below(random, 5)] = random() >> below(random, 64);
        answers(sound, sound.size() * 8, block, documents);
        try {
            block.check();
            const Words packed = pack_sets(plan, {block}, {nullptr, 0, true}, 1);
            answers(packed, packed.size() * 8, block, documents);
        } catch (const std::invalid_argument&) {
        }
    }
}

// Heads with sums that agree, and fields that would lead outside.
void test_forged_heads(Random& random) {
    const SetPlan plan{Measure::jaccard, false, 0.5, 0, 0};
    const SetDocuments documents = some_documents(random, 20, 0).made(plan);
    const Records records(documents, 0, documents.size());
    const Words sound = pack_sets(plan, {records.block}, {nullptr, 0, true}, 1);
    const auto refused = [&](std::uint64_t SetSegmentHead::* field, std::uint64_t value) {
        Words words = sound;
        SetSegmentHead head;
        std::memcpy(&head, words.data(), sizeof head);
        head.*field = value;
        std::memcpy(words.data(), &head, sizeof head);
        make_sums_agree(words);
        return !answers(words, words.size() * 8, records.block, documents);
    };
    CHECK(refused(&SetSegmentHead::rarity, 0));  // of a table with one place
    CHECK(refused(&SetSegmentHead::weighted, 1));
    CHECK(refused(&SetSegmentHead::measure, 2));  // documents were made for another
    CHECK(refused(&SetSegmentHead::minima, 3));
    CHECK(refused(&SetSegmentHead::threshold, std::bit_cast<std::uint64_t>(0.0)));
    for (const std::uint64_t huge : {1ULL << 24, 1ULL << 32, 1ULL << 62, ~0ULL})
        for (auto field :
             {&SetSegmentHead::sets, &SetSegmentHead::documents, &SetSegmentHead::bands,
              &SetSegmentHead::depth, &SetSegmentHead::prefix_depth,
              &SetSegmentHead::prefix_postings, &SetSegmentHead::rarity, &SetSegmentHead::bytes})
            CHECK(refused(field, huge));
}

template <typename Call>
bool refuses(const Call& call) {
    try {
        call();
    } catch (const std::invalid_argument&) {
        return true;
    }
    return false;
}

// Queries that do not fit what they are asked of, and weights that are none.
void test_misuse(Random& random) {
    const SetPlan banded{Measure::jaccard, false, 0.5, 4, 2},
        plain{Measure::jaccard, false, 0.5, 0, 0}, more{Measure::jaccard, false, 0.5, 40, 2},
        weighted{Measure::cosine, true, 0.5, 0, 0};
    const Columns columns = some_documents(random, 20, 0);
    const SetDocuments documents = columns.made(banded);
    const Records records(documents, 0, documents.size());
    const Words packed = pack_sets(banded, {records.block}, {nullptr, 0, true}, 1);
    const SetSegment segment(bytes_of(packed), packed.size() * 8, {records.block});
    SetTail tail(banded), weighted_tail(weighted);
    const SetKernels& kernels = set_kernels_for("auto");
    const SetView view{{&segment}, {{nullptr, 0}}, nullptr, 0}, last{{}, {}, &tail, 0};
    const auto ask = [&](const SetView& asked, const SetPlan& plan, double threshold) {
        const SetDocuments made = columns.made(plan);
        return refuses([&] { search_sets(asked, made, {threshold, 9, 0}, nullptr, 1, kernels); }) &&
               refuses([&] {
                   search_set(asked, made.at(0), plan, {threshold, 9, 0}, kNoNumber, kernels);
               });
    };
    for (const SetPlan& other : {plain, more, weighted}) {
        CHECK(ask(view, other, 0.5));
        CHECK(ask(last, other, 0.5));
    }
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (const double threshold : {0.49, 0.0, -1.0, 1.1, nan}) CHECK(ask(view, banded, threshold));
    CHECK(ask(last, banded, nan));
    CHECK(!ask(view, banded, 0.5) && !ask(view, banded, 1));
    CHECK(refuses([&] { weighted_tail.add(documents, 0, 1, kNoExpiry, 0); }));
    CHECK(refuses([&] { tail.add(columns.made(weighted), 0, 1, kNoExpiry, 0); }));
    for (const double wrong : {nan, -1.0, 1e-101, 1e101, HUGE_VAL}) {
        Columns bad;
        for (std::size_t i = 0; i < 100; ++i) bad.add({random(), random(), random()}, 1);
        for (std::size_t i = 0; i < bad.weights.size(); i += 2) bad.weights[i] = wrong;
        const SetDocuments made = bad.made(weighted);
        const Records wrongly(made, 0, made.size());
        CHECK(refuses([&] { pack_sets(weighted, {wrongly.block}, {nullptr, 0, true}, 1); }));
        CHECK(refuses([&] { weighted_tail.add(wrongly.block.set(0), 1, kNoExpiry, 0); }));
    }
}

// Threads look at a tail while another one adds to it, removes and undoes: what was there before
// stays as it was.
void test_tail_threads(Random& random) {
    const SetPlan plan{Measure::jaccard, false, 0.8, 0, 0};
    const SetDocuments documents = some_documents(random, 100, 20).made(plan);
    const SetKernels& kernels = set_kernels_for("auto");
    SetTail tail(plan);
    for (std::size_t i = 0; i < 50; ++i) tail.add(documents, i, i, kNoExpiry, 1);
    const SetView view{{}, {}, &tail, 1};
    const SetQuestion question{0.8, 100, 0};
    const auto before = search_sets(view, documents, question, nullptr, 1, kernels);
    std::atomic<bool> stop{false};
    std::atomic<long> wrong{0}, asked{0};
    std::vector<std::thread> readers;
    for (int i = 0; i < 3; ++i)
        readers.emplace_back([&] {
            while (!stop) {
                const auto now = search_sets(view, documents, question, nullptr, 1, kernels);
                wrong += now.numbers != before.numbers || now.similarities != before.similarities;
                ++asked;
            }
        });
    std::uint64_t number = 1000;
    for (std::uint64_t revision = 2; revision < 40 || asked < 3; ++revision) {
        for (std::size_t i = 0; i < documents.size(); ++i)
            tail.add(documents, i, ++number, kNoExpiry, revision);
        for (std::uint64_t i = 0; i < 50; ++i) tail.remove(i, revision);
        tail.undo(revision);
    }
    stop = true;
    for (std::thread& reader : readers) reader.join();
    CHECK(wrong == 0);
    CHECK(tail.size() == 50);
}

// Equal documents are one set, and are not compared with each other again and again.
void test_many_equal() {
    const SetPlan plan{Measure::jaccard, false, 0.8, 14, 4};
    Columns columns;
    std::set<std::uint64_t> features;
    for (std::uint64_t i = 0; i < 300; ++i) features.insert(i * 0x9E3779B97F4A7C15ULL);
    const auto count = static_cast<std::size_t>(rounds(20000));
    for (std::size_t i = 0; i < count; ++i) columns.add(features, 1);
    const SetDocuments documents = columns.made(plan);
    const Records records(documents, 0, documents.size());
    const Words packed = pack_sets(plan, {records.block}, {nullptr, 0, true}, 1);
    const SetSegment segment(bytes_of(packed), packed.size() * 8, {records.block});
    CHECK(segment.head().sets == 1 && segment.head().documents == count);
    const auto found = search_set({{&segment}, {{nullptr, 0}}, nullptr, 0}, documents.at(0), plan,
                                  {0.8, 5, 10}, 102, set_kernels_for("auto"));
    CHECK(found.size() == 5 && found[0].number == 100 && found[1].number == 104);
}

}  // namespace

void test_set_index() {
    Random random(16);
    for (long round = 0; round < rounds(60); ++round) {
        const double threshold = (1 + static_cast<double>(below(random, 20))) / 20;
        const auto measure = static_cast<Measure>(below(random, 5));
        test_search(random, {measure, below(random, 2) == 0, threshold, 0, 0}, round);
        test_search(random, {Measure::jaccard, false, 0.7, 17, 3}, round);
    }
    for (const SetPlan& plan :
         {SetPlan{Measure::jaccard, false, 0.5, 0, 0}, SetPlan{Measure::jaccard, false, 0.7, 6, 2},
          SetPlan{Measure::cosine, true, 0.5, 0, 0},
          SetPlan{Measure::containment, false, 0.5, 0, 0}})
        test_damage(random, plan);
    test_forged_heads(random);
    test_misuse(random);
    test_tail_threads(random);
    test_many_equal();
}

}  // namespace neardup::tests
