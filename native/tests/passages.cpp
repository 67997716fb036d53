#include <memory>
#include <string>
#include <vector>

#include "check.hpp"
#include "neardup/dispatch.hpp"
#include "neardup/passages/cut.hpp"
#include "neardup/passages/sightings.hpp"
#include "neardup/text/kernels.hpp"

namespace neardup::tests {

namespace {

// A column in memory of exactly its size, so that a sanitizer sees what is read outside.
struct HeldColumn {
    explicit HeldColumn(const std::vector<std::string>& texts) {
        std::string data;
        for (const std::string& text : texts) {
            data += text;
            offsets.push_back(static_cast<std::int64_t>(data.size()));
        }
        bytes = std::make_unique<std::uint8_t[]>(data.size());
        std::copy(data.begin(), data.end(), bytes.get());
    }
    Column column() const { return {bytes.get(), offsets.data(), offsets.size() - 1}; }

    std::unique_ptr<std::uint8_t[]> bytes;
    std::vector<std::int64_t> offsets{0};
};

std::vector<std::string> cut(const std::string& text, PassageUnit unit) {
    const HeldColumn held({text});
    Passages found = cut_passages(held.column(), unit, 1);
    found.begins.push_back(static_cast<std::int64_t>(text.size()));
    std::vector<std::string> passages;
    for (std::size_t i = 0; i + 1 < found.begins.size(); ++i)
        passages.push_back(
            text.substr(static_cast<std::size_t>(found.begins[i]),
                        static_cast<std::size_t>(found.begins[i + 1] - found.begins[i])));
    return passages;
}

using Strings = std::vector<std::string>;

void test_units() {
    CHECK(cut("", PassageUnit::paragraph).empty());
    CHECK(cut(" \n", PassageUnit::paragraph) == Strings{" \n"});
    CHECK(cut("One.\n\nTwo. Three.\n", PassageUnit::paragraph) ==
          (Strings{"One.\n\n", "Two. Three.\n"}));
    CHECK(cut("One.\n\nTwo. Three.\n", PassageUnit::sentence) ==
          (Strings{"One.\n\n", "Two. ", "Three.\n"}));
    CHECK(cut("f(x) {\n  g(x);\n}\n", PassageUnit::line) ==
          (Strings{"f(x) {\n", "  g(x);\n", "}\n"}));
    CHECK(cut("A\n```\nx\n\ny\n```\nB", PassageUnit::paragraph) ==
          (Strings{"A\n", "```\nx\n\ny\n```\n", "B"}));
    CHECK(cut("```\nx\n\ny", PassageUnit::paragraph) == (Strings{"```\nx\n\n", "y"}));
}

// Every cut of well-formed texts, and of texts cut off inside a character, ends inside the text.
void test_broken_texts() {
    const std::string whole = "Caf\xC3\xA9.\xE2\x80\xA8好。\r\n~~~\n\xF0\x9F\x99\x82\n~~~ ";
    for (std::size_t size = 0; size <= whole.size(); ++size) {
        for (const PassageUnit unit :
             {PassageUnit::line, PassageUnit::paragraph, PassageUnit::sentence}) {
            std::string together;
            for (const std::string& passage : cut(whole.substr(0, size), unit)) together += passage;
            CHECK(together == whole.substr(0, size));
        }
    }
}

void test_threads() {
    std::vector<std::string> texts;
    for (int i = 0; i < 2000; ++i)
        texts.push_back(i % 3 == 0 ? "" : "One.\n\nTwo " + std::to_string(i));
    const HeldColumn held(texts);
    const Passages one = cut_passages(held.column(), PassageUnit::paragraph, 1);
    const Passages many = cut_passages(held.column(), PassageUnit::paragraph, 4);
    CHECK(one.documents == many.documents);
    CHECK(one.begins == many.begins);
}

void test_keys() {
    const HeldColumn held({"One, two", "one  TWO!", "two one", ""});
    for (const std::string& isa : available_isas()) {
        std::vector<std::uint32_t> words(4);
        std::vector<std::uint64_t> keys(8);
        word_keys(held.column(), words.data(), keys.data(), 2, text_kernels_for(isa));
        CHECK(words == (std::vector<std::uint32_t>{2, 2, 2, 0}));
        CHECK(keys[0] == keys[2] && keys[1] == keys[3]);
        CHECK(keys[0] != keys[4] || keys[1] != keys[5]);
    }
}

void test_sightings() {
    Sightings seen(1 << 16);
    const std::vector<std::uint64_t> first{1, 2, 3}, second{3, 4};
    seen.see(first.data(), first.size());
    seen.see(second.data(), second.size());
    const std::vector<std::int64_t> offsets{0, 3};
    std::uint32_t count = 0;
    seen.count(offsets.data(), 1, first.data(), &count);
    CHECK(count == 1);
}

}  // namespace

void test_passages() {
    test_units();
    test_broken_texts();
    test_threads();
    test_keys();
    test_sightings();
}

}  // namespace neardup::tests
