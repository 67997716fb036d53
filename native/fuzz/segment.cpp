// Segments of an index: bytes as they are, bytes whose checksums are made to agree, and segments
// written from documents. Whatever the bytes are, nothing outside them is read, and every
// instruction set says the same; what was written is found as the tables in memory find it.
#include "neardup/index_tables/segment.hpp"

#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness.hpp"
#include "neardup/dispatch.hpp"
#include "neardup/index_tables/memory_tables.hpp"

namespace neardup::fuzz {

namespace {

using Words = std::vector<std::uint64_t>;

struct Asked {
    Words rows, dead;
    std::uint32_t most;
    std::size_t limit;
};

struct Answer {
    bool damaged = false;
    FoundMatches found;
    bool operator==(const Answer& other) const {
        return damaged == other.damaged && found.counts == other.found.counts &&
               found.numbers == other.found.numbers && found.distances == other.found.distances;
    }
};

Answer ask(const Segment& segment, const Asked& asked, const std::string& isa) {
    const auto rows = tight(asked.rows.data(), asked.rows.size());
    const Query query{rows.get(), asked.rows.size() / segment.limbs(), segment.limbs(), asked.most,
                      asked.limit};
    Answer answer;
    try {
        answer.found =
            segment.query(query, {asked.dead.data(), asked.dead.size()}, 1, table_kernels_for(isa));
    } catch (const std::invalid_argument&) {
        answer = {true, {}};
    }
    return answer;
}

// The documents of a segment, unless it is damaged.
std::optional<NumberedRows> documents_of(const Segment& segment, const Asked& asked) {
    NumberedRows all;
    try {
        segment.check();
        segment.append_rows({asked.dead.data(), asked.dead.size()}, all);
    } catch (const std::invalid_argument&) {
        return std::nullopt;
    }
    return all;
}

// Two rows of the segment itself, where it has them, and two of the input.
Asked asked_of(Tape& tape, std::size_t words) {
    Asked asked{{}, {}, static_cast<std::uint32_t>(tape.byte()) * 17, tape.byte()};
    if (asked.limit == 255) asked.limit = ~std::size_t{0};
    for (std::size_t i = 0; i < 4 * words; ++i) asked.rows.push_back(tape.word());
    std::set<std::uint64_t> dead;
    for (std::size_t i = tape.below(4); i != 0; --i) dead.insert(tape.byte());
    asked.dead.assign(dead.begin(), dead.end());
    return asked;
}

// Sums that agree with whatever is there, so that what is behind them is reached.
void forge(Words& words) {
    if (words.size() < 10) return;
    words[0] = SegmentHead::kMagic;
    words[1] = SegmentHead::kVersion;
    if (words[2] < 1 || words[2] > 200) words[2] = 1 + words[2] % 200;
    words[3] %= 8;
    words[6] = words.size() * 8;
    const std::size_t body = 10 + words[3] * ((words[2] + 63) / 64);
    if (body > words.size()) return;
    words[7] = segment_checksum(&words[0] + body, words.size() - body);
    words[8] = segment_checksum(&words[0] + 10, body - 10);
    words[9] = segment_checksum(&words[0], 9);
}

void read_anything(Tape& tape, bool forged) {
    const std::size_t settings = 1 + tape.below(8);
    const std::uint8_t* const begin = tape.rest();
    const std::size_t asked_size = std::min(tape.size(), 8 * settings);
    Tape asking(begin, asked_size);
    const std::uint8_t* const data = begin + asked_size;
    const std::size_t size = tape.size() - asked_size;
    Words words(size / 8);
    std::copy_n(data, words.size() * 8, reinterpret_cast<std::uint8_t*>(words.data()));
    if (forged) forge(words);
    const auto memory = tight(words.data(), words.size());
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(memory.get());
    const std::size_t count = forged ? words.size() * 8 : size;
    const auto raw = tight(data, size);
    try {
        const Segment segment(forged ? bytes : raw.get(), count);
        Asked asked = asked_of(asking, segment.limbs());
        // A query of bits that are there goes further than one of bits that are not.
        const std::size_t first_row = 10 + segment.mask_count() * segment.limbs();
        for (std::size_t i = 0; i < 2 * segment.limbs() && first_row + i < words.size(); ++i)
            asked.rows[i] ^= words[first_row + i];
        const Answer first = ask(segment, asked, "portable");
        for (const std::string& isa : other_isas()) REQUIRE(ask(segment, asked, isa) == first);
        documents_of(segment, asked);
    } catch (const std::invalid_argument&) {
        return;  // refused when it was opened
    }
}

void write_and_read(Tape& tape) {
    constexpr std::size_t widths[] = {64, 1, 32, 65, 130};
    const std::size_t bits = widths[tape.below(std::size(widths))], words = (bits + 63) / 64;
    const auto cut = [&](Words& rows) {
        if (bits % 64 == 0) return;
        for (std::size_t i = words - 1; i < rows.size(); i += words)
            rows[i] &= ~(~std::uint64_t{0} >> bits % 64);
    };
    Words masks, numbers, rows;
    const std::size_t mask_count = tape.below(4);
    for (std::size_t i = 0; i < mask_count * words; ++i) masks.push_back(tape.word());
    cut(masks);
    Asked asked = asked_of(tape, words);
    cut(asked.rows);
    std::set<std::uint64_t> used;
    while (tape.size() != 0) {
        const std::uint64_t number = tape.byte();
        // Few bits differ, or a document is nobody's neighbour.
        const std::size_t centre = tape.below(4);
        const std::uint64_t change = tape.byte();
        if (!used.insert(number).second) continue;
        numbers.push_back(number);
        for (std::size_t i = 0; i < words; ++i)
            rows.push_back(asked.rows[centre * words + i] ^ change << change % 57);
    }
    cut(rows);
    const SegmentWriter writer(numbers.data(), rows.data(), numbers.size(), masks.data(),
                               mask_count, bits);
    Words written(writer.bytes() / 8);
    writer.write(reinterpret_cast<std::uint8_t*>(written.data()));
    const auto memory = tight(written.data(), written.size());
    const Segment segment(reinterpret_cast<const std::uint8_t*>(memory.get()), written.size() * 8);
    REQUIRE(segment.documents() == numbers.size());
    MemoryTables tables(masks.data(), mask_count, words, bits, table_kernels_for("auto"));
    std::vector<std::uint32_t> places(numbers.size());
    tables.add(numbers.data(), rows.data(), numbers.size(), places.data());
    Words dead_numbers, dead_rows;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        if (!std::binary_search(asked.dead.begin(), asked.dead.end(), numbers[i])) continue;
        dead_numbers.push_back(numbers[i]);
        dead_rows.insert(dead_rows.end(), &rows[0] + i * words, &rows[0] + (i + 1) * words);
    }
    tables.remove(dead_numbers.data(), dead_rows.data(), dead_numbers.size());
    const Query query{asked.rows.data(), asked.rows.size() / words, words, asked.most, asked.limit};
    const Answer expected{false, tables.query(query, 1)};
    for (const std::string& isa : available_isas()) REQUIRE(ask(segment, asked, isa) == expected);
    const std::optional<NumberedRows> all = documents_of(segment, asked);
    REQUIRE(all && all->numbers.size() == numbers.size() - dead_numbers.size());
}

}  // namespace

void fuzz_segment(const std::uint8_t* data, std::size_t size) {
    Tape tape(data, size);
    const std::size_t kind = tape.below(3);
    if (kind == 2) return write_and_read(tape);
    read_anything(tape, kind == 1);
}

}  // namespace neardup::fuzz
