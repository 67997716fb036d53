// Code points of UTF-8 text, one at a time, and what they are to the cutters of sentences and
// Chinese words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace neardup {

struct Character {
    std::uint32_t code;
    std::uint32_t length;
};

// The code point at `at`, before `end`. For bytes that are not UTF-8 it is unspecified, but nothing
// outside the text is read.
inline Character character_at(const std::uint8_t* at, const std::uint8_t* end) {
    const std::uint32_t lead = at[0];
    const auto left = static_cast<std::size_t>(end - at);
    if (lead < 0x80) return {lead, 1};
    if (lead < 0xE0 && left >= 2) return {(lead & 31U) << 6 | (at[1] & 63U), 2};
    if (lead < 0xF0 && left >= 3)
        return {(lead & 15U) << 12 | (at[1] & 63U) << 6 | (at[2] & 63U), 3};
    if (left >= 4) {
        const std::uint32_t code =
            (lead & 7U) << 18 | (at[1] & 63U) << 12 | (at[2] & 63U) << 6 | (at[3] & 63U);
        return {code < 0x110000 ? code : 0xFFFD, 4};
    }
    return {0xFFFD, static_cast<std::uint32_t>(left)};
}

// Where the code point before `at` begins; `at` is behind `begin`.
inline const std::uint8_t* before(const std::uint8_t* at, const std::uint8_t* begin) {
    --at;
    for (int i = 0; i < 3 && at > begin && (*at & 0xC0) == 0x80; ++i) --at;
    return at;
}

// Properties of code points, as bits.
class Properties {
  public:
    enum : std::uint16_t {
        space = 1,
        letter = 2,
        in_word = 4,  // a letter, or a word by itself
        lower_or_digit = 8,
        line_break = 16,
        firm_end = 32,
        soft_end = 64,
        closer = 128,
        soft_closer = 256,
        opener = 512,
        any_digit = 1024,  // 0-9, also full-width
        han = 2048,
    };

    Properties();

    std::uint16_t of(std::uint32_t code) const { return of_[code]; }

  private:
    std::vector<std::uint16_t> of_;
};

// The one table, made when it is first asked for.
const Properties& properties();

}  // namespace neardup
