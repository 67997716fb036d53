// Lower-cased text → the values of its units: words, or the code points of the folded text.
#pragma once

#include <cstddef>
#include <cstdint>

#include "isa.hpp"
#include "nd1.hpp"
#include "tokenize.hpp"
#include "unicode.hpp"

namespace neardup::NEARDUP_ISA {

NEARDUP_INLINE std::size_t word_values(Tokenizer& tokens, std::uint64_t* out) {
    const std::uint8_t* text = tokens.lowered();
    const std::uint32_t* edge = tokens.edges();
    const std::size_t count = tokens.words();
    for (std::size_t i = 0; i < count; ++i)
        out[i] = unit_value(text + edge[2 * i], edge[2 * i + 1] - edge[2 * i]);
    return count;
}

// Values of single code points, white space folded: a space waits until something follows it.
class CharacterValues {
  public:
    CharacterValues() {
        for (std::uint32_t code = 0; code < 0x80; ++code) {
            const std::uint8_t padded[kReadAhead] = {static_cast<std::uint8_t>(code)};
            ascii_[code] = unit_value(padded, 1);
        }
    }

    void restart() { started_ = waiting_ = 0; }

    // Append the values of a piece of lowered text; at most one more than it has bytes.
    std::size_t run(const std::uint8_t* text, std::size_t size, std::uint64_t* out) {
        const UnicodeTable& table = unicode_table();
        const std::uint64_t space = ascii_[' '];
        // Locals, because the compiler must assume that writing to `out` changes the members.
        std::uint64_t started = started_, waiting = waiting_;
        std::uint64_t* to = out;
        for (std::size_t at = 0; at < size;) {
            const std::uint8_t byte = text[at];
            std::uint64_t value, is_space;
            if (byte < 0x80) {
                value = ascii_[byte];
                is_space = static_cast<std::uint64_t>(byte == ' ') |
                           static_cast<std::uint64_t>(static_cast<std::uint8_t>(byte - '\t') < 5);
                at += 1;
            } else {
                const CodePoint point =
                    byte < 0xE0 ? decode_short(text + at) : decode_long(text + at);
                value = unit_value(text + at, point.length);
                is_space = (point.code < UnicodeTable::kShortCodes
                                ? kind_of(table.short_entry(point.code))
                                : kind_of_long(table.long_entry(point.code))) == Kind::space;
                at += point.length;
            }
            const std::uint64_t shown = is_space ^ 1;
            to[0] = space;
            to += waiting & shown;
            to[0] = value;
            to += shown;
            started |= shown;
            waiting = is_space & started;
        }
        started_ = started;
        waiting_ = waiting;
        return static_cast<std::size_t>(to - out);
    }

  private:
    std::uint64_t ascii_[0x80];
    std::uint64_t started_ = 0;  // something other than white space has been seen
    std::uint64_t waiting_ = 0;  // white space has been seen since
};

}  // namespace neardup::NEARDUP_ISA
