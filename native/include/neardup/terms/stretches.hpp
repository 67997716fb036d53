// Lines, paragraphs and sentences as stretches of the bytes of a text. features/sentences.py states
// the rules of sentences.
#pragma once

#include <array>
#include <cstdint>

#include "neardup/terms/characters.hpp"

namespace neardup {

using Place = const std::uint8_t*;

struct Stretch {
    Place begin, end;

    bool empty() const { return begin == end; }
};

class Stretches {
  public:
    // The first place from `at` on that is no white space.
    Place behind_space(Place at, Place end) const {
        return behind_all(at, end, Properties::space, 0);
    }

    Stretch stripped(Stretch text) const {
        text.begin = behind_space(text.begin, text.end);
        while (!text.empty()) {
            const Place last = before(text.end, text.begin);
            if (!is(character_at(last, text.end), Properties::space)) break;
            text.end = last;
        }
        return text;
    }

    bool has_word(Stretch text) const {
        while (!text.empty()) {
            const Character first = character_at(text.begin, text.end);
            if (is(first, Properties::in_word)) return true;
            text.begin += first.length;
        }
        return false;
    }

    // The place behind the line break at `at`, or `at` if there is none.
    Place behind_break(Place at, Place end) const {
        if (at == end) return at;
        if (at[0] == '\r' && at + 1 != end && at[1] == '\n') return at + 2;
        const Character character = character_at(at, end);
        return is(character, Properties::line_break) ? at + character.length : at;
    }

    // Where the next line break is, and where it ends; both the end if there is none.
    Stretch next_break(Place at, Place end) const {
        while (at != end) {
            if (!starters_.breaks[*at]) {
                ++at;
                continue;
            }
            const Place behind = behind_break(at, end);
            if (behind != at) return {at, behind};
            at += character_at(at, end).length;
        }
        return {end, end};
    }

    template <typename Take>
    void for_lines(Stretch text, const Take& take) const {
        Place line = text.begin;
        while (true) {
            const Stretch found = next_break(line, text.end);
            take(stripped({line, found.begin}));
            if (found.begin == text.end) return;
            line = found.end;
        }
    }

    // The stretches between blank lines.
    template <typename Take>
    void for_paragraphs(Stretch text, const Take& take) const {
        Place paragraph = text.begin;
        for (Place at = text.begin; at != text.end;) {
            const Stretch found = next_break(at, text.end);
            at = behind_last_break(found.end, text.end);
            if (at == found.end) continue;
            take(stripped({paragraph, found.begin}));
            paragraph = at;
        }
        take(stripped({paragraph, text.end}));
    }

    // The sentences of one paragraph, which is stripped of white space; those without a word are
    // left out.
    template <typename Take>
    void for_sentences(Stretch paragraph, const Take& take) const {
        Place start = paragraph.begin;
        for (Place at = paragraph.begin; at != paragraph.end;) {
            if (!starters_.marks[*at]) {
                ++at;
                continue;
            }
            const Character character = character_at(at, paragraph.end);
            const Place next = at + character.length;
            Place end;
            bool ends;
            if (is_firm(character, next, paragraph.end)) {
                end = behind_all(next, paragraph.end,
                                 Properties::firm_end | Properties::soft_end | Properties::closer,
                                 kFullWidthStop);
                ends = true;
            } else if (is(character, Properties::soft_end)) {
                end = behind_all(next, paragraph.end,
                                 Properties::soft_end | Properties::soft_closer, 0);
                ends = ends_softly(paragraph, at, end);
            } else {
                at = next;
                continue;
            }
            if (ends) {
                give({start, end}, take);
                start = end;
            }
            at = end;
        }
        give({start, paragraph.end}, take);
    }

    bool is(Character character, std::uint16_t property) const {
        return (table_.of(character.code) & property) != 0;
    }

  private:
    static constexpr std::uint32_t kFullWidthStop = 0xFF0E, kEllipsis = 0x2026;

    // Bytes at which a mark or a line break can begin.
    struct Starters {
        std::array<bool, 256> marks{}, breaks{};

        Starters() {
            const Properties& table = properties();
            for (std::uint32_t byte = 0; byte < 256; ++byte) {
                const std::uint16_t is = byte < 0x80 ? table.of(byte) : 0;
                marks[byte] =
                    byte >= 0xC2 || (is & (Properties::soft_end | Properties::firm_end)) != 0;
                // U+0085, U+2028 and U+2029 are the only others.
                breaks[byte] = byte == 0xC2 || byte == 0xE2 || (is & Properties::line_break) != 0;
            }
        }
    };

    static const Starters& starters() {
        static const Starters bytes;
        return bytes;
    }

    // The place behind the last of the line breaks that follow with only white space between.
    Place behind_last_break(Place at, Place end) const {
        Place last = at;
        while (at != end) {
            const Place next = behind_break(at, end);
            if (next != at) {
                at = last = next;
                continue;
            }
            const Character character = character_at(at, end);
            if (!is(character, Properties::space)) break;
            at += character.length;
        }
        return last;
    }

    bool is_firm(Character character, Place next, Place end) const {
        if (is(character, Properties::firm_end)) return true;
        if (character.code == kEllipsis)
            return next != end && character_at(next, end).code == kEllipsis;
        if (character.code != kFullWidthStop) return false;
        return next == end || !is(character_at(next, end), Properties::any_digit);
    }

    // The first place from `at` on whose character has none of the properties and is not `also`.
    Place behind_all(Place at, Place end, std::uint16_t property, std::uint32_t also) const {
        while (at != end) {
            const Character character = character_at(at, end);
            if (!is(character, property) && (also == 0 || character.code != also)) break;
            at += character.length;
        }
        return at;
    }

    // Whether the mark of rule 3 from `begin` to `end` ends a sentence.
    bool ends_softly(Stretch paragraph, Place begin, Place end) const {
        const Place following = behind_space(end, paragraph.end);
        if (following == end || following == paragraph.end) return false;
        if (is(character_at(following, paragraph.end), Properties::lower_or_digit)) return false;
        return end - begin != 1 || *begin != '.' || !one_letter_before(paragraph, begin);
    }

    // Whether a word of one character stands before a full stop.
    bool one_letter_before(Stretch paragraph, Place stop) const {
        if (stop == paragraph.begin) return false;
        const Place letter = before(stop, paragraph.begin);
        if (!is(character_at(letter, stop), Properties::letter)) return false;
        if (letter == paragraph.begin) return true;
        const Place other = before(letter, paragraph.begin);
        return *other == '.' ||
               is(character_at(other, letter), Properties::space | Properties::opener);
    }

    template <typename Take>
    void give(Stretch sentence, const Take& take) const {
        sentence = stripped(sentence);
        if (has_word(sentence)) take(sentence);
    }

    const Properties& table_ = properties();
    const Starters& starters_ = starters();
};

}  // namespace neardup
