// An index of sets: segments and blocks of records as they are, with checksums that are made to
// agree, and written from documents. Whatever the bytes are, nothing outside them is read, and
// every instruction set says the same; without bands, a segment finds what a look at all documents
// finds.
#include <bit>
#include <cstring>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "harness.hpp"
#include "neardup/dispatch.hpp"
#include "neardup/set_index/search.hpp"

namespace neardup::fuzz {

namespace {

using Words = std::vector<std::uint64_t>;
using Matches = std::vector<std::tuple<double, std::uint64_t>>;

// Documents in columns, as kernels take them.
struct Documents {
    std::vector<std::int64_t> offsets{0};
    Words hashes;
    std::vector<double> weights;

    void add(const std::set<std::uint64_t>& features, double weight) {
        for (const std::uint64_t feature : features) {
            hashes.push_back(feature);
            weights.push_back(weight);
            weight += 1;
        }
        offsets.push_back(static_cast<std::int64_t>(hashes.size()));
    }
    SetDocuments made(const SetPlan& plan) const {
        return SetDocuments(plan,
                            {offsets.data(), offsets.size() - 1, hashes.data(), weights.data()}, 1);
    }
};

// A document of few features, some of which differ in their lower half only.
std::set<std::uint64_t> features_of(Tape& tape) {
    std::set<std::uint64_t> features;
    for (std::size_t i = tape.below(60); i != 0 && tape.size() != 0; --i) {
        const std::uint64_t byte = tape.byte();
        features.insert((byte >> 1) * 0x9E3779B97F4A7C15ULL + (byte & 1));
    }
    return features;
}

SetQuestion question_of(Tape& tape, double least) {
    const double more = static_cast<double>(tape.byte()) / 255;
    const std::size_t limit = tape.byte();
    return {std::max(least, more), limit > 20 ? ~std::size_t{0} : limit, tape.byte()};
}

Matches search(const SetView& view, const SetDocuments& asked, std::size_t place,
               const SetQuestion& question, std::uint64_t skip, const std::string& isa) {
    Matches matches;
    for (const SetMatch& match :
         search_set(view, asked.at(place), asked.plan(), question, skip, set_kernels_for(isa)))
        matches.emplace_back(match.similarity, match.number);
    return matches;
}

// What every instruction set says, or nothing where damage was met.
std::optional<Matches> ask(const SetView& view, const SetDocuments& asked, std::size_t place,
                           const SetQuestion& question, std::uint64_t skip) {
    std::vector<std::optional<Matches>> answers;
    for (const std::string& isa : available_isas()) {
        try {
            answers.push_back(search(view, asked, place, question, skip, isa));
        } catch (const std::invalid_argument&) {
            answers.emplace_back();
        }
        REQUIRE(answers.back() == answers.front());
    }
    return answers.front();
}

// Bytes of records: numbers, perhaps expiry times, starts, features.
struct Records {
    std::vector<std::uint8_t> bytes;
    FeatureBlock block;

    Records(const SetDocuments& documents, const std::vector<std::uint32_t>& numbers,
            const std::vector<std::int64_t>& expires) {
        block = {nullptr, 0, 5, numbers.size(), 0, 0, 0, 0};
        put(numbers.data(), 4 * numbers.size());
        if (!expires.empty()) block.expires = put(expires.data(), 8 * expires.size());
        std::vector<std::uint32_t> starts{0};
        for (std::size_t i = 0; i < documents.size(); ++i)
            starts.push_back(starts.back() + static_cast<std::uint32_t>(documents.stored_bytes(i)));
        block.starts = put(starts.data(), 4 * starts.size());
        block.features = bytes.size();
        bytes.resize(bytes.size() + starts.back());
        for (std::size_t i = 0; i < documents.size(); ++i)
            documents.store(i, bytes.data() + block.features + starts[i]);
    }

  private:
    std::size_t put(const void* from, std::size_t size) {
        const std::size_t at = bytes.size();
        bytes.resize(at + size);
        if (size != 0) std::memcpy(bytes.data() + at, from, size);
        return at;
    }
};

// A head that passes, so that what is behind it is reached.
void forge(Words& words) {
    constexpr std::size_t head_words = sizeof(SetSegmentHead) / 8;
    if (words.size() < head_words) return;
    SetSegmentHead head;
    std::memcpy(&head, words.data(), sizeof head);
    head.magic = SetSegmentHead::kMagic;
    head.version = SetSegmentHead::kVersion;
    head.bytes = words.size() * 8;
    if (!(std::bit_cast<double>(head.threshold) > 0 && std::bit_cast<double>(head.threshold) <= 1))
        head.threshold = std::bit_cast<std::uint64_t>(0.5);
    head.body_sum = segment_checksum(words.data() + head_words, words.size() - head_words);
    std::memcpy(words.data(), &head, sizeof head);
    words[head_words - 1] = segment_checksum(words.data(), head_words - 1);
}

std::size_t two_bytes(Tape& tape) { return tape.byte() | std::size_t{tape.byte()} << 8; }

void pack_anything(const SetPlan& plan, const FeatureBlock& block, const SetDocuments& asked,
                   const SetQuestion& question) {
    SetTail tail(plan);
    Words packed;
    try {
        packed = pack_sets(plan, {block}, {nullptr, 0, true}, 1);
        for (std::size_t i = 0; i < block.documents; ++i)
            if (const StoredSet stored = block.set(i); stored.size != 0)
                tail.add(stored, block.number(i), block.expiry(i), 0);
    } catch (const std::invalid_argument&) {
        return;
    }
    const SetSegment segment(reinterpret_cast<const std::uint8_t*>(packed.data()),
                             packed.size() * 8, {block});
    segment.check();
    ask({{&segment}, {{nullptr, 0}}, nullptr, 0}, asked, 0, question, kNoNumber);
    ask({{}, {}, &tail, 0}, asked, 0, question, kNoNumber);
}

void read_anything(Tape& tape, bool forged) {
    Documents queries;
    queries.add(features_of(tape), 1 + tape.byte());
    FeatureBlock block{nullptr, 0, tape.byte(), two_bytes(tape), 0, 0, 0, 0};
    block.numbers = two_bytes(tape);
    block.expires = two_bytes(tape);
    block.starts = two_bytes(tape);
    block.features = two_bytes(tape);
    const std::size_t asking = 3, block_size = two_bytes(tape);
    Tape settings(tape.rest(), std::min(asking, tape.size()));
    for (std::size_t i = 0; i < asking; ++i) tape.byte();
    block.size = std::min(block_size, tape.size());
    const auto records = tight(tape.rest(), block.size);
    block.data = records.get();
    const std::uint8_t* const data = tape.rest() + block.size;
    const std::size_t size = tape.size() - block.size;
    Words words(size / 8);
    if (size >= 8) std::memcpy(words.data(), data, words.size() * 8);
    if (forged) forge(words);
    const auto memory = tight(words.data(), words.size());
    const auto raw = tight(data, size);
    try {
        const SetSegment segment(
            forged ? reinterpret_cast<const std::uint8_t*>(memory.get()) : raw.get(),
            forged ? words.size() * 8 : size, {block});
        const SetPlan plan = segment.plan();
        const SetDocuments asked = queries.made(plan);
        const SetQuestion question = question_of(settings, plan.threshold);
        const std::uint64_t dead[] = {5, 7};
        ask({{&segment}, {{dead, 2}}, nullptr, 0}, asked, 0, question, 6);
        pack_anything(plan, block, asked, question);
        segment.check();
    } catch (const std::invalid_argument&) {
        return;  // refused when it was opened, or damaged
    }
}

// What is read is written as it was, unless the bytes were in disorder.
void read_set(Tape& tape) {
    const auto memory = tight(tape.rest(), tape.size());
    ReadSet read;
    try {
        read.read({memory.get(), tape.size()});
    } catch (const std::invalid_argument&) {
        return;
    }
    std::vector<std::uint8_t> written(stored_bytes(read.size(), read.weighted()));
    if (read.weighted())
        store_weighted_set(read.view(), written.data());
    else if (std::is_sorted(read.features(), read.features() + read.size()))
        store_set(read.features(), read.size(), written.data());
    else
        return;
    ReadSet again;
    again.read({written.data(), written.size()});
    REQUIRE(again.size() == read.size() && again.weighted() == read.weighted());
    if (read.weighted())
        REQUIRE(
            std::equal(read.view().hashes, read.view().hashes + read.size(), again.view().hashes));
    else
        REQUIRE(std::equal(read.features(), read.features() + read.size(), again.features()));
}

void write_and_read(Tape& tape) {
    constexpr Measure measures[] = {Measure::jaccard, Measure::weighted_jaccard, Measure::cosine,
                                    Measure::containment, Measure::inclusion};
    const bool weighted = tape.below(2) != 0;
    const double threshold = (1 + tape.below(20)) / 20.0;
    const auto drawn = static_cast<std::uint32_t>(weighted ? 0 : tape.below(4));
    const Measure measure = measures[tape.below(5)];
    const std::uint32_t bands = is_of_one(measure) ? 0 : drawn;
    const SetPlan plan{measure, weighted, threshold, bands, 1 + bands / 2};
    const SetQuestion question = question_of(tape, threshold);
    const bool expiring = tape.below(2) != 0;
    const std::size_t copies = 1 + (tape.below(4) == 3 ? kCrowd + 10 : 0);
    Documents sets;
    std::vector<std::uint32_t> numbers;
    std::vector<std::int64_t> expires;
    std::uint32_t number = 0;
    while (tape.size() != 0 && numbers.size() < 300) {
        const std::set<std::uint64_t> features = features_of(tape);
        const double weight = 1 + tape.below(9);
        for (std::size_t copy = 0; copy < copies; ++copy) {  // one other feature makes a family
            std::set<std::uint64_t> own = features;
            if (copy != 0) own.insert((copy << 40) + 1);
            sets.add(own, weight);
            numbers.push_back(number += 1 + static_cast<std::uint32_t>(weight) % 3);
            if (expiring) expires.push_back(static_cast<std::int64_t>(weight * 30));
        }
    }
    const SetDocuments documents = sets.made(plan);
    Records records(documents, numbers, expires);
    const auto memory = tight(records.bytes.data(), records.bytes.size());
    records.block.data = memory.get();
    records.block.size = records.bytes.size();
    const Words packed = pack_sets(plan, {records.block}, {nullptr, 0, true}, 1);
    const auto words = tight(packed.data(), packed.size());
    const SetSegment segment(reinterpret_cast<const std::uint8_t*>(words.get()), packed.size() * 8,
                             {records.block});
    segment.check();
    SetTail tail(plan);
    for (std::size_t i = 0; i < numbers.size(); ++i)
        tail.add(documents, i, 5 + numbers[i], expiring ? expires[i] : kNoExpiry, 0);
    for (std::size_t i = 0; i < documents.size(); i += copies) {
        const auto all = ask({{}, {}, &tail, 0}, documents, i, question, 7);
        const auto found = ask({{&segment}, {{nullptr, 0}}, nullptr, 0}, documents, i, question, 7);
        REQUIRE(all && found);
        if (bands == 0) REQUIRE(*all == *found);
        if (bands != 0 && question.limit > numbers.size())
            for (const auto& match : *found)
                REQUIRE(std::find(all->begin(), all->end(), match) != all->end());
    }
}

}  // namespace

void fuzz_sets(const std::uint8_t* data, std::size_t size) {
    Tape tape(data, size);
    const std::size_t kind = tape.below(4);
    if (kind == 3) return read_set(tape);
    if (kind == 2) return write_and_read(tape);
    read_anything(tape, kind == 1);
}

}  // namespace neardup::fuzz
