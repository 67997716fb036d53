#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "check.hpp"
#include "neardup/dispatch.hpp"
#include "neardup/text/kernels.hpp"
#include "neardup/text/unicode.hpp"

namespace neardup::tests {

namespace {

struct Result {
    std::vector<std::uint64_t> bits;
    std::vector<std::uint32_t> words;
    bool operator==(const Result&) const = default;
};

// Documents in one stretch of memory that ends exactly with the last, so that a sanitizer sees
// every byte read outside.
class Documents {
  public:
    explicit Documents(const std::vector<std::string>& texts) : offsets_{0} {
        std::size_t size = 0;
        for (const std::string& text : texts) {
            size += text.size();
            offsets_.push_back(static_cast<std::int64_t>(size));
        }
        data_.reset(new std::uint8_t[size]);
        std::uint8_t* to = data_.get();
        for (const std::string& text : texts) to = std::copy(text.begin(), text.end(), to);
    }

    Result run(const Recipe& recipe, const std::string& isa, std::size_t threads = 1) const {
        const std::size_t count = offsets_.size() - 1;
        Result result{std::vector<std::uint64_t>(count * recipe.row_limbs()),
                      std::vector<std::uint32_t>(count)};
        fingerprint_column({data_.get(), offsets_.data(), count}, recipe,
                           {result.bits.data(), result.words.data()}, threads,
                           text_kernels_for(isa));
        return result;
    }

  private:
    std::unique_ptr<std::uint8_t[]> data_;
    std::vector<std::int64_t> offsets_;
};

// Any words do for a key, but for the base, which is below the prime.
constexpr HashKey kKey = {{1, ~0ULL}, ~0ULL - 59, 3, 5, 7, 9};

Recipe drawn_recipe(Random& random) {
    constexpr std::size_t sizes[] = {1, 2, 3, 4, 5, 8, 50, 1000, 1u << 31};
    constexpr std::uint32_t widths[] = {1, 42, 63, 64, 65, 128, 129, 512};
    return {random() % 2 == 0, sizes[below(random, std::size(sizes))],
            random() % 2 == 0, widths[below(random, std::size(widths))],
            random() % 2 == 0, random() % 2 == 0 ? &kKey : nullptr};
}

std::string drawn_bytes(Random& random, std::size_t size) {
    // Lead and continuation bytes alone and cut off; ASCII often enough that blocks matter.
    static const std::string likely =
        "aZ_9 .\x80\xA0\xBF\xC1\xC2\xC8\xD0\xD1\xDF\xE0\xE4\xE9\xEF\xF0\xF4\xF8\xFF";
    std::string bytes;
    while (bytes.size() < size) {
        if (random() % 4 == 0)
            bytes.append(below(random, 90), likely[below(random, likely.size())]);
        else if (random() % 2 == 0)
            bytes += likely[below(random, likely.size())];
        else
            bytes += static_cast<char>(random());
    }
    bytes.resize(size);
    return bytes;
}

// Each text has a few alphabets, so that long runs of one and changes between them are common.
std::string drawn_text(Random& random, std::size_t size) {
    struct Alphabet {
        std::uint32_t first, last;
    };
    static const Alphabet alphabets[] = {
        {'a', 'z'},          {' ', '~'},         {' ', ' '},         {0, 0x7F},
        {0x80, 0x7FF},       {0xC0, 0x17F},      {0x23A, 0x23E},     {0x300, 0x36F},
        {0x370, 0x3FF},      {0x400, 0x47F},     {0x410, 0x44F},     {0x480, 0x4FF},
        {0x900, 0x97F},      {0xE01, 0xE3A},     {0x1E00, 0x1EFF},   {0x2000, 0x206F},
        {0x212A, 0x212B},    {0x2C60, 0x2C7F},   {0x3000, 0x30FF},   {0x4DF0, 0x4E10},
        {0x4E00, 0x9FFF},    {0x9FF0, 0xA010},   {0xAC00, 0xD7A3},   {0xE000, 0xFFFF},
        {0xFE00, 0xFE0F},    {0x10400, 0x1044F}, {0x1F600, 0x1F64F}, {0x20000, 0x2FFFF},
        {0x10FFF0, 0x10FFFF}};
    const Alphabet* chosen[3];
    for (const Alphabet*& alphabet : chosen)
        alphabet = &alphabets[below(random, std::size(alphabets))];
    std::string text;
    while (text.size() < size) {
        const Alphabet& alphabet = *chosen[below(random, std::size(chosen))];
        const std::size_t longest = random() % 4 == 0 ? 150 : 8;
        for (std::size_t left = 1 + below(random, longest); left != 0; --left) {
            std::uint8_t bytes[4];
            const auto code = alphabet.first + static_cast<std::uint32_t>(below(
                                                   random, alphabet.last - alphabet.first + 1));
            const std::uint32_t length = encode_utf8(code, bytes);
            text.append(reinterpret_cast<const char*>(bytes), length);
        }
    }
    return text;
}

template <typename Draw>
void check_isas_agree(const Draw& draw) {
    for (long seed = 0; seed < rounds(300); ++seed) {
        Random random(static_cast<std::uint64_t>(seed));
        std::vector<std::string> texts;
        for (std::size_t i = below(random, 6); i != 0; --i)
            texts.push_back(draw(random, below(random, 300)));
        // The same fingerprinter serves large and small documents, in any order.
        for (std::size_t i = below(random, 4); i != 0; --i)
            texts.push_back(draw(random, below(random, seed % 10 == 0 ? 60000 : 3000)));
        const Documents documents(texts);
        const Recipe recipe = drawn_recipe(random);
        const Result expected = documents.run(recipe, "portable");
        for (const std::string& isa : available_isas())
            CHECK_CASE(documents.run(recipe, isa) == expected, seed);
        CHECK_CASE(documents.run(recipe, "auto", 3) == expected, seed);
    }
}

// Lower case can be longer than the text: of U+023A two bytes become three, and bytes that are
// not UTF-8 may be taken for code points. Room kept from an earlier document must not hide it.
void check_text_that_grows() {
    const Recipe words{{true, 1}, true, 64, false}, characters{{false, 1}, true, 64, false};
    for (const std::string part :
         {"\xC8\xBA", "\x80", "\xC1", "\xBF", "\xC8", "\xE0\x88\xBA", "\xF8"}) {
        std::string text;
        while (text.size() < 3000) text += part;
        for (std::size_t first = 64; first < 2000; first = first * 5 / 4) {
            const Documents documents({text.substr(0, first), text.substr(0, first * 3 / 2)});
            for (const std::string& isa : available_isas()) {
                CHECK(documents.run(words, isa) == documents.run(words, "portable"));
                CHECK(documents.run(characters, isa) == documents.run(characters, "portable"));
            }
        }
    }
}

// Features of a long document are counted exactly once each, however many there are.
void check_many_features() {
    Random random(3);
    const auto words = static_cast<std::uint32_t>(rounds(50000));
    std::string text, twice;
    for (std::uint32_t i = 0; i < words; ++i) text += std::to_string(random()) + " ";
    twice = text + text;
    const Documents documents({text, twice});
    const Recipe set{{true, 1}, true, 64, false}, counts{{true, 1}, false, 64, false};
    for (const std::string& isa : available_isas()) {
        const Result of_set = documents.run(set, isa), of_counts = documents.run(counts, isa);
        CHECK(of_set.words == std::vector<std::uint32_t>({words, 2 * words}));
        CHECK(of_set.bits[0] == of_counts.bits[0]);
        CHECK(of_set.bits[1] == of_counts.bits[0]);
    }
}

// The last bytes of a text, at every distance from the end of its memory.
void check_every_ending() {
    const std::string lead(130, 'x');
    for (const std::string ending :
         {"\xC3\x84", "\xE4\xB8\x80", "\xF0\x9F\x98\x80", "\xC3", "\xE4\xB8", "\xF0\x9F"})
        for (std::size_t size = 0; size <= lead.size(); ++size) {
            const Documents documents({lead.substr(0, size) + ending});
            for (const bool words : {true, false}) {
                const Recipe recipe{{words, 1}, false, 64, false};
                const Result expected = documents.run(recipe, "portable");
                for (const std::string& isa : available_isas())
                    CHECK_CASE(documents.run(recipe, isa) == expected, size);
            }
        }
}

void check_refusals() {
    bool refused = false;
    try {
        text_kernels_for("8086");
    } catch (const std::invalid_argument&) {
        refused = true;
    }
    CHECK(refused);
    const std::vector<std::string> isas = available_isas();
    CHECK(!isas.empty() && isas.front() == "portable");
    CHECK(&text_kernels_for("auto") == &text_kernels_for(isas.back()));
}

}  // namespace

void test_fingerprint() {
    check_refusals();
    check_every_ending();
    check_text_that_grows();
    check_many_features();
    check_isas_agree(drawn_text);
    check_isas_agree(drawn_bytes);
}

}  // namespace neardup::tests
