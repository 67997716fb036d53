#include "neardup/text/unicode.hpp"

#include <cstring>
#include <stdexcept>
#include <vector>

namespace neardup {

namespace {

const KindRange kKindRanges[] = {
#define ND_KIND(first, last, kind) {first, last, Kind::kind},
#define ND_LOWER(first, last, stride, delta)
#include "unicode_ranges.inc"
#undef ND_KIND
#undef ND_LOWER
};

const LowerRange kLowerRanges[] = {
#define ND_KIND(first, last, kind)
#define ND_LOWER(first, last, stride, delta) {first, last, stride, delta},
#include "unicode_ranges.inc"
#undef ND_KIND
#undef ND_LOWER
};

}  // namespace

std::span<const KindRange> kind_ranges() { return kKindRanges; }
std::span<const LowerRange> lower_ranges() { return kLowerRanges; }

UnicodeTable::UnicodeTable() {
    std::vector<LongEntry> flat(kCodes, static_cast<LongEntry>(Kind::other));
    for (const KindRange& range : kKindRanges)
        for (std::uint32_t code = range.first; code <= range.last; ++code)
            flat[code] = static_cast<LongEntry>(range.kind);
    for (const LowerRange& range : kLowerRanges)
        for (std::uint32_t code = range.first; code <= range.last; code += range.stride)
            flat[code] |= range.delta * 256;

    for (std::uint32_t code = 0; code < kShortCodes; ++code) {
        std::uint8_t bytes[4] = {};
        const auto lower = static_cast<std::uint32_t>(static_cast<std::int32_t>(code) +
                                                      lower_delta_of(flat[code]));
        const std::uint32_t length = encode_utf8(lower, bytes);
        short_[code] = static_cast<std::uint32_t>(bytes[0]) |
                       static_cast<std::uint32_t>(bytes[1]) << 8 |
                       static_cast<std::uint32_t>(bytes[2]) << 16 | length << 24 |
                       static_cast<std::uint32_t>(kind_of_long(flat[code])) << 28;
    }

    std::uint32_t used = 0;
    for (std::uint32_t page = 0; page < kPages; ++page) {
        const LongEntry* block = &flat[page << kPageBits];
        std::uint32_t same = 0;
        while (same < used && std::memcmp(blocks_[same], block, sizeof blocks_[same]) != 0) ++same;
        if (same == kMostBlocks) throw std::logic_error("the Unicode ranges need more blocks");
        if (same == used) std::memcpy(blocks_[used++], block, sizeof blocks_[same]);
        page_[page] = static_cast<std::uint8_t>(same);
    }
}

const UnicodeTable& unicode_table() {
    static const UnicodeTable table;
    return table;
}

}  // namespace neardup
