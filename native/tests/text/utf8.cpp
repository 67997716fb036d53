#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

#include "check.hpp"
#include "neardup/dispatch.hpp"
#include "neardup/text/kernels.hpp"
#include "neardup/text/unicode.hpp"

namespace neardup::tests {

namespace {

// The definition, without a trick: text is what some code points are encoded as.
bool is_text(const std::string& bytes) {
    for (std::size_t at = 0; at < bytes.size();) {
        const auto lead = static_cast<std::uint8_t>(bytes[at]);
        const std::size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
        if (at + length > bytes.size()) return false;
        std::uint32_t code = length == 1 ? lead : lead & (0x7FU >> length);
        for (std::size_t i = 1; i < length; ++i)
            code = code << 6 | (static_cast<std::uint8_t>(bytes[at + i]) & 63U);
        if (code >= 0x110000 || (code >= 0xD800 && code < 0xE000)) return false;
        std::uint8_t again[4];
        if (encode_utf8(code, again) != length) return false;
        if (std::memcmp(again, bytes.data() + at, length) != 0) return false;
        at += length;
    }
    return true;
}

// In memory that ends with the text, so that a sanitizer sees every byte read outside.
bool found_text(const std::string& bytes, const std::string& isa) {
    const std::unique_ptr<std::uint8_t[]> tight(new std::uint8_t[bytes.size()]);
    std::copy(bytes.begin(), bytes.end(), tight.get());
    return text_kernels_for(isa).is_utf8(tight.get(), bytes.size());
}

void check_all(const std::string& bytes, long which) {
    const bool expected = is_text(bytes);
    for (const std::string& isa : available_isas())
        CHECK_CASE(found_text(bytes, isa) == expected, which);
}

}  // namespace

void test_utf8() {
    // Every pair of bytes, alone and where two blocks meet.
    for (unsigned pair = 0; pair < 0x10000; pair += pair < 0x8000 ? 16 : 1) {
        const std::string two = {static_cast<char>(pair >> 8), static_cast<char>(pair)};
        check_all(std::string(31, 'x') + two, pair);
        if (pair >= 0xE000) check_all(two + "\x80\x80", pair);
    }
    // Text with a byte changed here and there, of every length around a block.
    Random random(4);
    const std::string parts[] = {"a", "\xC3\xA9", "\xE4\xB8\xAD", "\xF0\x9F\x98\x80"};
    for (long seed = 0; seed < rounds(4000); ++seed) {
        std::string text;
        const std::size_t size = below(random, 140);
        while (text.size() < size) text += parts[below(random, std::size(parts))];
        if (seed % 2 == 0 && !text.empty())
            text[below(random, text.size())] = static_cast<char>(random());
        if (seed % 5 == 0) text.resize(below(random, text.size() + 1));
        check_all(text, seed);
    }
}

}  // namespace neardup::tests
