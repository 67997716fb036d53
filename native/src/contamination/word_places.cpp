#include "neardup/contamination/word_places.hpp"

#include "neardup/text/unicode.hpp"

namespace neardup {

namespace {

struct Character {
    std::uint32_t code;
    std::size_t bytes;
};

Character decode(std::span<const std::uint8_t> text, std::size_t at) {
    const std::uint8_t lead = text[at];
    if (lead < 0x80) return {lead, 1};
    const std::size_t bytes = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (at + bytes > text.size()) return {0xFFFD, 1};
    std::uint32_t code = lead & (0x7FU >> bytes);
    for (std::size_t i = 1; i < bytes; ++i) code = code << 6 | (text[at + i] & 63U);
    return {code < UnicodeTable::kCodes ? code : 0xFFFD, bytes};
}

Kind kind_at(const UnicodeTable& table, std::uint32_t code) {
    return code < UnicodeTable::kShortCodes ? kind_of(table.short_entry(code))
                                            : kind_of_long(table.long_entry(code));
}

}  // namespace

std::vector<WordPlace> word_places(std::span<const std::uint8_t> text,
                                   std::span<const std::uint64_t> numbers) {
    const UnicodeTable& table = unicode_table();
    std::vector<WordPlace> places;
    places.reserve(numbers.size());
    std::uint64_t words = 0;
    std::int64_t characters = 0;
    bool inside = false, wanted = false;
    const auto begin_word = [&](std::size_t at) {
        wanted = places.size() < numbers.size() && numbers[places.size()] == words;
        if (wanted) places.push_back({static_cast<std::int64_t>(at), 0, characters, 0});
        ++words;
    };
    const auto end_word = [&](std::size_t at, std::int64_t character) {
        if (!wanted) return;
        places.back().end_byte = static_cast<std::int64_t>(at);
        places.back().end = character;
        wanted = false;
    };
    for (std::size_t at = 0; at < text.size();) {
        const Character character = decode(text, at);
        const Kind kind = kind_at(table, character.code);
        const bool goes_on = kind == Kind::letter || (kind == Kind::mark && inside);
        if (inside && !goes_on) end_word(at, characters);
        if (kind == Kind::letter && !inside) begin_word(at);
        if (kind == Kind::solo) {
            begin_word(at);
            end_word(at + character.bytes, characters + 1);
        }
        inside = goes_on;
        at += character.bytes;
        ++characters;
        if (!inside && places.size() == numbers.size()) break;
    }
    end_word(text.size(), characters);
    return places;
}

}  // namespace neardup
