#include "neardup/text/unicode.hpp"

#include <cstring>

#include "check.hpp"

namespace neardup::tests {

namespace {

Kind kind(std::uint32_t code) { return kind_of_long(unicode_table().long_entry(code)); }

std::uint32_t lower(std::uint32_t code) {
    return static_cast<std::uint32_t>(static_cast<std::int32_t>(code) +
                                      lower_delta_of(unicode_table().long_entry(code)));
}

}  // namespace

void test_unicode() {
    CHECK(kind('a') == Kind::letter);
    CHECK(kind('9') == Kind::letter);
    CHECK(kind('_') == Kind::letter);
    CHECK(kind('-') == Kind::other);
    CHECK(kind(' ') == Kind::space);
    CHECK(kind(0x1C) == Kind::other);  // no White_Space, whatever Python's str.split thinks
    CHECK(kind(0x85) == Kind::space);
    CHECK(kind(0xA0) == Kind::space);
    CHECK(kind(0x200B) == Kind::other);  // the zero-width space is none
    CHECK(kind(0x3000) == Kind::space);
    CHECK(kind(0x301) == Kind::mark);
    CHECK(kind(0xFE0F) == Kind::mark);
    CHECK(kind(0x302A) == Kind::mark);
    CHECK(kind(0x3007) == Kind::solo);
    CHECK(kind(0x4E00) == Kind::solo);
    CHECK(kind(0x3042) == Kind::solo);
    CHECK(kind(0x30FC) == Kind::solo);
    CHECK(kind(0xFF71) == Kind::solo);
    CHECK(kind(0xE31) == Kind::solo);  // a Thai mark stands alone like a Thai letter
    CHECK(kind(0xE50) == Kind::solo);
    CHECK(kind(0xAC00) == Kind::letter);
    CHECK(kind(0x2F00) == Kind::other);  // a radical is a symbol
    CHECK(kind(0x1F600) == Kind::other);
    CHECK(kind(0x31350) == Kind::solo);
    CHECK(kind(0x2EBF0) == Kind::solo);  // came with 15.1
    CHECK(kind(0x10FFFF) == Kind::other);

    CHECK(lower('A') == 'a');
    CHECK(lower('a') == 'a');
    CHECK(lower(0x130) == 'i');
    CHECK(lower(0x131) == 0x131);
    CHECK(lower(0x23A) == 0x2C65);
    CHECK(lower(0x3A3) == 0x3C3);
    CHECK(lower(0x3C2) == 0x3C2);
    CHECK(lower(0xDF) == 0xDF);
    CHECK(lower(0x1E9E) == 0xDF);
    CHECK(lower(0x1C5) == 0x1C6);
    CHECK(lower(0x212A) == 'k');
    CHECK(lower(0x10400) == 0x10428);

    // The short entries say the same as the long ones, in another form.
    for (std::uint32_t code = 0; code < UnicodeTable::kShortCodes; ++code) {
        const ShortEntry entry = unicode_table().short_entry(code);
        std::uint8_t bytes[4] = {};
        const std::uint32_t length = encode_utf8(lower(code), bytes);
        CHECK_CASE(kind_of(entry) == kind(code), code);
        CHECK_CASE(length_of(entry) == length, code);
        CHECK_CASE(std::memcmp(bytes, &entry, 3) == 0, code);
    }

    std::uint8_t bytes[4];
    for (const auto& [code, length] : {std::pair{0x7FU, 1U},
                                       {0x80U, 2U},
                                       {0x7FFU, 2U},
                                       {0x800U, 3U},
                                       {0xFFFFU, 3U},
                                       {0x10000U, 4U},
                                       {0x10FFFFU, 4U}})
        CHECK_CASE(encode_utf8(code, bytes) == length, code);
}

}  // namespace neardup::tests
