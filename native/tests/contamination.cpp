#include <algorithm>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "check.hpp"
#include "neardup/contamination/benchmark.hpp"
#include "neardup/contamination/word_places.hpp"
#include "neardup/dispatch.hpp"
#include "neardup/text/kernels.hpp"

namespace neardup::tests {

namespace {

using Words = std::vector<std::string>;
using Run = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::size_t>;

// Texts as a column.
struct Texts {
    std::string data;
    std::vector<std::int64_t> offsets{0};

    explicit Texts(const std::vector<Words>& texts) {
        for (const Words& words : texts) {
            for (const std::string& word : words) data += word + ' ';
            offsets.push_back(static_cast<std::int64_t>(data.size()));
        }
    }
    Column column() const {
        return {reinterpret_cast<const std::uint8_t*>(data.data()), offsets.data(),
                offsets.size() - 1};
    }
};

// Words of one letter and a space each: word i begins at byte 2 i.
Words some_words(Random& random, std::size_t most, std::size_t kinds) {
    Words words(below(random, most));
    for (std::string& word : words) word = static_cast<char>('a' + below(random, kinds));
    return words;
}

std::unique_ptr<const Benchmark> made(const std::vector<Words>& items,
                                      const BenchmarkSettings& settings,
                                      const TextKernels& kernels) {
    auto benchmark = std::make_unique<Benchmark>(settings);
    const Texts texts(items);
    std::vector<std::uint32_t> owners(items.size());
    for (std::size_t i = 0; i < owners.size(); ++i) owners[i] = static_cast<std::uint32_t>(i);
    benchmark->add(texts.column(), owners.data(), items.size(), kernels);
    benchmark->finish();
    return benchmark;
}

// Every maximal run of each item, which no earlier item repeats.
std::vector<Run> slowly(const std::vector<Words>& items, const Words& document, std::uint32_t least,
                        std::uint32_t short_words) {
    std::vector<Run> found;
    for (std::uint32_t number = 0; number < items.size(); ++number) {
        const Words& item = items[number];
        if (item.size() < short_words) continue;
        if (std::find(items.begin(), items.begin() + number, item) != items.begin() + number)
            continue;
        const std::size_t needed = std::min<std::size_t>(least, item.size());
        for (std::size_t at = 0; at < document.size(); ++at)
            for (std::size_t start = 0; start < item.size(); ++start) {
                if (at != 0 && start != 0 && document[at - 1] == item[start - 1]) continue;
                std::size_t length = 0;
                while (at + length < document.size() && start + length < item.size() &&
                       document[at + length] == item[start + length])
                    ++length;
                if (length >= needed)
                    found.emplace_back(number, static_cast<std::uint32_t>(start),
                                       static_cast<std::uint32_t>(length), at);
            }
    }
    std::sort(found.begin(), found.end());
    return found;
}

std::vector<Run> quickly(const Benchmark& benchmark, const Words& document,
                         const TextKernels& kernels) {
    const Texts texts({document});
    std::vector<Run> found;
    for (const Hit& hit : benchmark.scan(texts.column(), 0.0, kernels).hits)
        found.emplace_back(hit.run.item, hit.run.item_start, hit.run.words,
                           static_cast<std::size_t>(hit.range.start_byte / 2));
    std::sort(found.begin(), found.end());
    return found;
}

void test_runs() {
    const TextKernels& kernels = text_kernels_for("auto");
    Random random(11);
    for (long round = 0; round < rounds(2000); ++round) {
        const std::size_t kinds = 2 + below(random, 5);
        std::vector<Words> items(1 + below(random, 4));
        for (Words& item : items) item = some_words(random, 14, kinds);
        const Words document = some_words(random, 30, kinds);
        const auto least = static_cast<std::uint32_t>(3 + below(random, 7));
        const auto short_words = static_cast<std::uint32_t>(1 + below(random, 3));
        const auto benchmark = made(items, {least, short_words, 1000}, kernels);
        CHECK_CASE(
            quickly(*benchmark, document, kernels) == slowly(items, document, least, short_words),
            round);
    }
}

// Word after word again: neither the items nor the hits grow with the square.
void test_repetition() {
    for (const auto& isa : available_isas()) {
        const TextKernels& kernels = text_kernels_for(isa);
        const std::vector<Words> same{Words(50'000, "a")};
        const auto benchmark = made(same, {8, 5, 100}, kernels);
        const Texts texts(same);
        const Found found = benchmark->scan(texts.column(), 0.5, kernels);
        CHECK(found.hits.size() <= Benchmark::kMostHits);
        CHECK(found.items.size() == 1 && found.items[0].longest == 50'000);
        CHECK(found.ranges.size() == 1 && found.ranges[0].words == 50'000);
        CHECK(found.documents.size() == 1 && found.documents[0].covered == 50'000);
    }
}

void test_common_words() {
    const TextKernels& kernels = text_kernels_for("auto");
    const Words all{"a", "b", "c", "d", "e"};
    std::vector<Words> items;
    for (char last = 'f'; last < 'n'; ++last) {
        items.push_back(all);
        items.back().push_back(std::string(1, last));
    }
    const auto few = made(items, {5, 5, 7}, kernels), many = made(items, {5, 5, 8}, kernels);
    CHECK(few->common_count() == 1 && many->common_count() == 0);
    CHECK(few->common()[0].items == 8 && few->common()[0].item_start == 0);
    CHECK(quickly(*few, all, kernels).empty());
    CHECK(quickly(*many, all, kernels).size() == 8);
    // Beside a word of the item they count.
    CHECK((quickly(*few, items[3], kernels) == std::vector<Run>{{3, 0, 6, 0}}));
}

void test_empty() {
    const TextKernels& kernels = text_kernels_for("auto");
    const auto nothing = made({}, {8, 5, 100}, kernels);
    CHECK(nothing->items() == 0 && quickly(*nothing, {"a"}, kernels).empty());
    const auto blank = made({{}, {}}, {8, 5, 100}, kernels);
    CHECK(blank->items() == 2 && blank->words_of()[1] == 0 && blank->same_as()[1] == 1);
    CHECK(quickly(*blank, {}, kernels).empty());
}

void test_places() {
    const std::string text = "\xC2\xAB\xC3\x80 la\xC2\xBB \xE6\x9D\xB1\xE4\xBA\xAC!";
    const std::vector<std::uint64_t> wanted{0, 1, 3};
    const auto places =
        word_places({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, wanted);
    CHECK(places.size() == 3);
    CHECK(places[0].start_byte == 2 && places[0].end_byte == 4 && places[0].start == 1);
    CHECK(places[1].start_byte == 5 && places[1].end == 5);
    CHECK(places[2].start_byte == 13 && places[2].end_byte == 16 && places[2].end == 9);
}

}  // namespace

void test_contamination() {
    test_runs();
    test_repetition();
    test_common_words();
    test_empty();
    test_places();
}

}  // namespace neardup::tests
