#include "neardup/terms/characters.hpp"

#include "neardup/text/unicode.hpp"

namespace neardup {

namespace {

// The Han characters among the solo characters.
const std::uint32_t kHan[][2] = {{0x3005, 0x3007},   {0x3021, 0x3029},   {0x3038, 0x303B},
                                 {0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xF900, 0xFA6D},
                                 {0xFA70, 0xFAD9},   {0x16FE3, 0x16FE3}, {0x20000, 0x2A6DF},
                                 {0x2A700, 0x2B739}, {0x2B740, 0x2B81D}, {0x2B820, 0x2CEA1},
                                 {0x2CEB0, 0x2EBE0}, {0x2EBF0, 0x2EE5D}, {0x2F800, 0x2FA1D},
                                 {0x30000, 0x3134A}, {0x31350, 0x323AF}};

const char32_t kFirmEnds[] = U"。！？；｡؟۔।॥։።፧។៕။";
const char32_t kSoftEnds[] = U".!?…‼⁇⁈⁉";
const char32_t kClosers[] = U"\"'”’»›)]}」』）】〕》〉〗〙〛｝］｣＂＇";
const char32_t kSoftClosers[] = U"“‘";  // „German“ quotes; after 。 they open the next sentence
const char32_t kOpeners[] = U"([{";
const char32_t kLineBreaks[] = U"\r\n\x0b\x0c\u0085\u2028\u2029";

}  // namespace

Properties::Properties() : of_(0x110000) {
    const auto mark = [this](const char32_t* codes, std::uint16_t property) {
        for (; *codes != 0; ++codes) of_[*codes] |= property;
    };
    const auto mark_range = [this](std::uint32_t first, std::uint32_t last,
                                   std::uint16_t property) {
        for (std::uint32_t code = first; code <= last; ++code) of_[code] |= property;
    };
    for (const KindRange& range : kind_ranges()) {
        if (range.kind == Kind::letter) mark_range(range.first, range.last, letter | in_word);
        if (range.kind == Kind::solo) mark_range(range.first, range.last, in_word);
        if (range.kind == Kind::space) mark_range(range.first, range.last, space);
    }
    for (const LowerRange& range : lower_ranges())
        for (std::uint32_t code = range.first; code <= range.last; code += range.stride)
            of_[static_cast<std::uint32_t>(static_cast<std::int32_t>(code) + range.delta)] |=
                lower_or_digit;
    for (const auto& range : kHan) mark_range(range[0], range[1], han);
    mark_range('0', '9', lower_or_digit | any_digit);
    mark_range(0xFF10, 0xFF19, any_digit);
    mark(kFirmEnds, firm_end);
    mark(kSoftEnds, soft_end);
    mark(kClosers, closer | soft_closer);
    mark(kSoftClosers, soft_closer);
    mark(kOpeners, opener);
    mark(kLineBreaks, line_break);
}

const Properties& properties() {
    static const Properties table;
    return table;
}

}  // namespace neardup
