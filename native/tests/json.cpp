#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "check.hpp"
#include "neardup/dispatch.hpp"
#include "neardup/json/lines.hpp"

namespace neardup::tests {

namespace {

struct Found {
    std::string name;
    JsonKind kind;
    std::string data;
    std::vector<std::int64_t> offsets;
    bool operator==(const Found&) const = default;
};

struct Answer {
    std::size_t lines, rows;
    std::vector<Found> columns;
    bool operator==(const Answer&) const = default;
};

const std::vector<JsonWanted> kTextAndId = {{"text", JsonKind::string}, {"id", std::nullopt}};

std::vector<Found> take(JsonLines& lines) {
    std::vector<Found> found;
    lines.hand_out([&](JsonColumn& column) {
        const std::size_t size = column.data.size(), offsets = column.offsets.size();
        const std::unique_ptr<std::uint8_t[]> data(column.data.release());
        const std::unique_ptr<std::int64_t[]> ends(column.offsets.release());
        found.push_back({column.name,
                         column.kind,
                         {reinterpret_cast<const char*>(data.get()), size},
                         {ends.get(), ends.get() + offsets}});
    });
    return found;
}

// Add a block in memory that ends with it, so that a sanitizer sees every byte read outside.
std::size_t add(JsonLines& lines, const std::string& block, const std::string& isa) {
    const std::unique_ptr<std::uint8_t[]> tight(new std::uint8_t[block.size()]);
    std::copy(block.begin(), block.end(), tight.get());
    return lines.add(tight.get(), block.size(), json_kernels_for(isa));
}

Answer read(const std::string& block, const std::string& isa, bool every) {
    JsonLines lines(kTextAndId, every);
    const std::size_t count = add(lines, block, isa);
    const std::size_t rows = lines.rows();
    return {count, rows, take(lines)};
}

// What every instruction set says of a block.
Answer agreed(const std::string& block, bool every, long which) {
    const Answer first = read(block, "portable", every);
    for (const std::string& isa : available_isas())
        CHECK_CASE(read(block, isa, every) == first, which);
    return first;
}

// A string as it may be written, and what it says.
struct Written {
    std::string source, says;
};

Written drawn_string(Random& random) {
    static const Written kParts[] = {
        {"a", "a"},
        {"\xC3\xA9", "\xC3\xA9"},
        {"\\n", "\n"},
        {"\\\"", "\""},
        {"\\\\", "\\"},
        {"\\/", "/"},
        {"\\b\\f", "\b\f"},
        {"\\r\\t", "\r\t"},
        {"\\u0041", "A"},
        {"\\u00e9", "\xC3\xA9"},
        {"\\u4E2d", "\xE4\xB8\xAD"},
        {"\\ud83D\\uDe00", "\xF0\x9F\x98\x80"},
        {"\\u0000", std::string(1, '\0')},
    };
    Written drawn;
    for (std::size_t count = below(random, 6); count != 0; --count) {
        const Written& part = kParts[below(random, std::size(kParts))];
        const std::string plain(below(random, below(random, 3) == 0 ? 150 : 3), 'x');
        drawn.source += part.source + plain;
        drawn.says += part.says + plain;
    }
    return drawn;
}

std::string spaced(Random& random, const std::string& token) {
    return std::string(below(random, 3), ' ') + token + &"\t\r"[below(random, 3)];
}

// Lines with all there is: their texts must come out as they were meant.
std::string drawn_lines(Random& random, std::vector<std::string>& texts) {
    static const std::string kOthers[] = {"[]",   "[1,\t{\"a\": null}]", "{ }", "1.5e3",
                                          "true", "\"\\u0041\""};
    std::string block;
    for (std::size_t count = 1 + below(random, 8); count != 0; --count) {
        const Written text = drawn_string(random);
        texts.push_back(text.says);
        const std::string id = std::to_string(static_cast<std::int64_t>(random()));
        for (const char* token : {"{", "\"id\"", ":", id.c_str(), ",", "\"text\"", ":"})
            block += spaced(random, token);
        block += spaced(random, "\"" + text.source + "\"");
        if (below(random, 2) == 0)
            block += ", \"other\": " + kOthers[below(random, std::size(kOthers))];
        block += spaced(random, "}");
        if (count != 1) block += below(random, 5) == 0 ? "\n \r\n" : "\n";
    }
    return block;
}

void test_drawn_lines(long seed) {
    Random random(static_cast<std::uint64_t>(seed));
    std::vector<std::string> texts;
    std::string block = drawn_lines(random, texts);
    const bool every = seed % 2 == 0;
    const Answer sound = agreed(block, every, seed);
    CHECK_CASE(sound.rows == texts.size(), seed);
    const auto line_feeds = std::count(block.begin(), block.end(), '\n');
    CHECK_CASE(sound.lines == 1 + static_cast<std::size_t>(line_feeds), seed);
    std::string together;
    for (const std::string& text : texts) together += text;
    CHECK_CASE(sound.columns[0].data == together, seed);
    std::int64_t end = 0;
    for (std::size_t i = 0; i < texts.size() && i + 1 < sound.columns[0].offsets.size(); ++i) {
        end += static_cast<std::int64_t>(texts[i].size());
        CHECK_CASE(sound.columns[0].offsets[i + 1] == end, seed);
    }
    // Broken somewhere, or ending anywhere: nothing is read outside, and all say the same.
    for (int change = 0; change < 4; ++change) {
        std::string broken = block;
        if (change < 2) broken.resize(below(random, broken.size()));
        if (change > 0 && !broken.empty())
            broken[below(random, broken.size())] = below(random, 2) == 0
                                                       ? "\"\\{}[],:\n\x01\x80"[below(random, 11)]
                                                       : static_cast<char>(random());
        agreed(broken, every, seed);
    }
}

void test_every_end() {
    // A block that ends in every place of every part of a line.
    const std::string whole = R"({"id": -12, "text": "a\n\u00e9\ud83d\ude00 )" +
                              std::string(70, 'x') +
                              R"(", "b": [true, false, null, 1.5e-3, {"c": "\\"}]})";
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const Answer answer = agreed(whole.substr(0, size), true, static_cast<long>(size));
        CHECK_CASE(answer.lines == (size == 0 ? 1U : 0U), size);
    }
    CHECK(agreed(whole, true, -1).rows == 1);
    // A string that ends anywhere in a block of 64 bytes, with an escape before it or not.
    for (std::size_t size = 0; size < 200; ++size) {
        const std::string plain(size, 'x');
        for (const std::string& escape : {std::string(), std::string("\\n")}) {
            const std::string line = "{\"text\":\"" + escape + plain + "\",\"id\":1}";
            const Answer answer = agreed(line, false, static_cast<long>(size));
            CHECK_CASE(answer.rows == 1, size);
            CHECK_CASE(answer.columns[0].data == (escape.empty() ? "" : "\n") + plain, size);
        }
    }
}

void test_blocks_in_a_row() {
    for (const std::string& isa : available_isas()) {
        JsonLines lines(kTextAndId, true);
        std::string expected;
        for (int i = 0; i < 300; ++i) {
            const std::string text(static_cast<std::size_t>(i), 'y');
            const std::string rest = "\",\"id\":\"a\",\"n\":[" + std::to_string(i) + "]}";
            CHECK(add(lines, "{\"text\":\"" + text + rest, isa) == 1);
            CHECK(add(lines, "{\"text\":\"\",\"id\":7}", isa) == 0);
            expected += text;
        }
        CHECK(lines.rows() == 300);
        const std::vector<Found> columns = take(lines);
        CHECK(columns.size() == 3 && columns[0].data == expected);
        CHECK(columns[1].data == std::string(300, 'a'));
        CHECK(columns[2].kind == JsonKind::other && columns[2].data.substr(0, 8) == "[0],[1],");
        CHECK(lines.rows() == 0 && add(lines, "{\"text\":\"\",\"id\":7}", isa) == 1);
        CHECK(take(lines).size() == 2);
    }
}

}  // namespace

void test_json() {
    for (long seed = 0; seed < rounds(1500); ++seed) test_drawn_lines(seed);
    test_every_end();
    test_blocks_in_a_row();
}

}  // namespace neardup::tests
