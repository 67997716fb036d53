#include "neardup/terms/unit_joiner.hpp"

#include <cstring>
#include <stdexcept>

#include "neardup/text/tokenize.hpp"
#include "neardup/text/unicode.hpp"

namespace neardup {

namespace {

constexpr std::size_t kPieceBytes = 16 << 10;

bool is_space(const std::uint8_t* at) {
    const UnicodeTable& table = unicode_table();
    if (at[0] < 0xE0)
        return kind_of(table.short_entry(portable::decode_short(at).code)) == Kind::space;
    return kind_of_long(table.long_entry(portable::decode_long(at).code)) == Kind::space;
}

std::size_t length_at(const std::uint8_t* at) {
    return at[0] < 0xC2 ? 1 : at[0] < 0xE0 ? 2 : at[0] < 0xF0 ? 3 : 4;
}

// Copy a word and the space behind it; up to 16 bytes more are written.
NEARDUP_INLINE std::uint8_t* copy_word(const std::uint8_t* from, std::size_t length,
                                       std::uint8_t* to) {
    if (length <= 16) {
        std::memcpy(to, from, 16);
    } else {
        std::memcpy(to, from, length);
    }
    to[length] = ' ';
    return to + length + 1;
}

void require_small(std::size_t bytes) {
    if (bytes > UINT32_MAX) throw std::length_error("a text is too large to be cut into terms");
}

}  // namespace

WordCutter::~WordCutter() = default;

std::size_t piece_end(const std::uint8_t* text, std::size_t begin, std::size_t size) {
    if (size - begin <= kPieceBytes + kPieceBytes / 2) return size;
    std::size_t end = begin + kPieceBytes;
    for (; end < size; ++end) {
        const std::uint8_t byte = text[end];
        if (byte >= 0xE5 && byte <= 0xE9) break;  // only Han characters begin so
        if (byte < 0x80 && kind_of(unicode_table().short_entry(byte)) != Kind::letter) break;
    }
    return end;
}

std::size_t UnitJoiner::words(const std::uint8_t* text, std::size_t size, Arena& arena) {
    const std::size_t origin = arena.size();
    std::size_t count = 0;
    for (std::size_t begin = 0; begin < size;) {
        const std::size_t end = piece_end(text, begin, size);
        const LoweredWords found = cutter_->cut(text + begin, end - begin);
        begin = end;
        const std::size_t before = arena.size() - origin;
        std::uint8_t* const room = arena.room(found.size + found.words + 16);
        std::uint32_t* start = starts_.reserve(count + found.words + 1) + count;
        std::uint8_t* to = room;
        const auto here = [&] {
            return static_cast<std::uint32_t>(before + static_cast<std::size_t>(to - room));
        };
        for (const std::uint32_t* edge = found.edges; edge != found.edges + 2 * found.pairs;
             edge += 2) {
            if (!portable::begins_solo(found.text + edge[0])) {
                *start++ = here();
                to = copy_word(found.text + edge[0], edge[1] - edge[0], to);
                continue;
            }
            for (std::uint32_t at = edge[0]; at < edge[1]; at += portable::kSoloBytes) {
                *start++ = here();
                to = copy_word(found.text + at, portable::kSoloBytes, to);
            }
        }
        count += found.words;
        arena.take(static_cast<std::size_t>(to - room));
        require_small(arena.size() - origin);
    }
    starts_.reserve(count + 1)[count] = static_cast<std::uint32_t>(arena.size() - origin);
    return count;
}

std::size_t UnitJoiner::characters(const std::uint8_t* text, std::size_t size, Arena& arena) {
    const std::size_t origin = arena.size();
    std::size_t count = 0;
    bool after_space = true;  // white space at the start is dropped
    for (std::size_t begin = 0; begin < size;) {
        const std::size_t end = piece_end(text, begin, size);
        const LoweredWords found = cutter_->cut(text + begin, end - begin);
        begin = end;
        const std::size_t before = arena.size() - origin;
        std::uint8_t* const room = arena.room(found.size + 4);
        std::uint32_t* const starts = starts_.reserve(count + found.size + 1);
        std::uint8_t* to = room;
        for (std::size_t at = 0; at < found.size;) {
            const std::uint8_t* from = found.text + at;
            const std::size_t length = length_at(from);
            const bool space = is_space(from);
            at += length;
            if (space && after_space) continue;
            after_space = space;
            starts[count++] =
                static_cast<std::uint32_t>(before + static_cast<std::size_t>(to - room));
            std::memcpy(to, from, 4);
            if (space) *to = ' ';
            to += space ? 1 : length;
        }
        arena.take(static_cast<std::size_t>(to - room));
        require_small(arena.size() - origin);
    }
    if (count != 0 && after_space) {
        --count;
        arena.cut_to(arena.size() - 1);
    }
    starts_.reserve(count + 1)[count] = static_cast<std::uint32_t>(arena.size() - origin);
    return count;
}

}  // namespace neardup
