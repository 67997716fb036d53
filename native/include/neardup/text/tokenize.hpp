// Text → lower-cased text and the edges of its words, in one pass.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "neardup/buffer.hpp"
#include "neardup/isa.hpp"
#include "neardup/text/block.hpp"
#include "neardup/text/nd1.hpp"
#include "neardup/text/unicode.hpp"

namespace neardup::NEARDUP_ISA {

// One code point as it stands in the text. Text is validated before; for
// bytes that are not UTF-8 the result is unspecified, but nothing outside the text is read.
struct CodePoint {
    std::uint32_t code;
    std::uint32_t length;
};

// Decode at `at`, where at least four bytes can be read and the byte is at least 0xE0.
NEARDUP_INLINE CodePoint decode_long(const std::uint8_t* at) {
    const std::uint32_t low = (at[1] & 63U) << 6 | (at[2] & 63U);
    if (at[0] < 0xF0) return {(at[0] & 15U) << 12 | low, 3};
    const std::uint32_t code = (at[0] & 7U) << 18 | low << 6 | (at[3] & 63U);
    return {code < UnicodeTable::kCodes ? code : 0xFFFD, 4};
}

// Decode at `at`, where at least four bytes can be read and the byte is below 0xE0.
NEARDUP_INLINE CodePoint decode_short(const std::uint8_t* at) {
    const bool two = at[0] >= 0xC2;
    return {two ? (at[0] & 31U) << 6 | (at[1] & 63U) : at[0], two ? 2U : 1U};
}

// U+4E00 to U+9FFF: every one a word of its own, and without case.
NEARDUP_INLINE bool is_han(const std::uint8_t* at) {
    const std::uint32_t start = static_cast<std::uint32_t>(at[0]) << 8 | at[1];
    return start - 0xE4B8U <= 0xE9BFU - 0xE4B8U;
}

// How far a pass over the text has come. It is handed on by value: the compiler must assume that
// writing a byte changes anything that lies in memory.
struct TokenizerState {
    std::size_t at = 0;        // bytes of text taken
    std::size_t written = 0;   // bytes of lowered text
    std::uint32_t* edge;       // where the next edge goes
    std::uint64_t inside = 0;  // 1 while the last character belongs to an open word
    std::size_t in_runs = 0;   // words beyond the first of each run of Han characters
};

// A start with this bit begins a run of Han characters, each of them a word of three bytes.
inline constexpr std::uint32_t kHanRun = 1U << 31;
inline constexpr std::uint32_t kHanBytes = 3;

class Tokenizer {
  public:
    // Cut `size` bytes of text. The results stay valid until the next call.
    void run(const std::uint8_t* text, std::size_t size) {
        // Lower case takes at most half as much room again (U+023A: two bytes become three), bytes
        // that are not UTF-8 up to twice as much. There is at most one edge to a byte, but a block
        // writes eight at a time.
        std::uint8_t* out = lowered_.reserve(2 * size + 64 + kReadAhead);
        std::uint32_t* edges = edges_.reserve(size + 2 * 64);
        TokenizerState state{.edge = edges};
        while (state.at < size) {
            state = blocks(text, size, out, state);
            if (state.at < size) state = other_text(text, size, out, state);
        }
        mark_edge(state, state.written, state.inside);
        std::memset(out + state.written, 0, kReadAhead);
        written_ = state.written;
        edge_count_ = static_cast<std::size_t>(state.edge - edges);
        words_ = edge_count_ / 2 + state.in_runs;
    }

    const std::uint8_t* lowered() { return lowered_.data(); }
    std::size_t lowered_size() const { return written_; }

    // Start and end of each word, or run of Han characters, in the lowered text.
    const std::uint32_t* edges() { return edges_.data(); }
    std::size_t edge_pairs() const { return edge_count_ / 2; }
    std::size_t words() const { return words_; }

    std::size_t bytes() const { return lowered_.bytes() + edges_.bytes(); }
    void release() {
        lowered_.release();
        edges_.release();
    }

  private:
    // Run through blocks of 64 bytes up to the first character that must be looked up, or the end.
    static NEARDUP_INLINE TokenizerState blocks(const std::uint8_t* text, std::size_t size,
                                                std::uint8_t* out, TokenizerState state) {
        std::uint8_t padded[1 + 64 + 1];
        while (state.at < size) {
            const std::size_t left = size - state.at;
            const std::uint8_t* from = text + state.at;
            if (left < 64) from = copy_padded(from, left, padded);
            BlockBits bits = lower_ascii_block(from, out + state.written);
            if (bits.unknown != 0 && is_cyrillic_lead(from[std::countr_zero(bits.unknown)])) {
                if (left == 64 || (left > 64 && state.at == 0))
                    from = copy_padded(from, left, padded);
                bits = lower_cyrillic_block(from, out + state.written);
            }
            const auto known = static_cast<std::size_t>(std::countr_zero(bits.unknown));
            const std::size_t step = known < left ? known : left;
            const std::uint64_t stepped_over = step < 64 ? (1ULL << step) - 1 : ~0ULL;
            mark_edges(state, (bits.word ^ (bits.word << 1 | state.inside)) & stepped_over);
            if (step != 0) state.inside = bits.word >> (step - 1) & 1;
            state.at += step;
            state.written += step;
            if (known < 63) break;
        }
        return state;
    }

    // Up to 64 bytes of text with zeros around them; where they begin.
    static NEARDUP_INLINE const std::uint8_t* copy_padded(const std::uint8_t* from,
                                                          std::size_t left,
                                                          std::uint8_t (&padded)[66]) {
        std::memset(padded, 0, sizeof padded);
        std::memcpy(padded + 1, from, left < 64 ? left : 64);
        return padded + 1;
    }

    static NEARDUP_INLINE void mark_edges(TokenizerState& state, std::uint64_t changes) {
        const auto base = static_cast<std::uint32_t>(state.written);
        const int count = std::popcount(changes);
        for (int done = 0; done < count; done += 8) {
            for (int i = 0; i < 8; ++i) {
                state.edge[done + i] = base + static_cast<std::uint32_t>(std::countr_zero(changes));
                changes &= changes - 1;
            }
        }
        state.edge += count;
    }

    static NEARDUP_INLINE void mark_edge(TokenizerState& state, std::size_t place,
                                         std::uint64_t really) {
        *state.edge = static_cast<std::uint32_t>(place);
        state.edge += really;
    }

    // Step over a character of a kind that is not solo: words begin with letters.
    static NEARDUP_INLINE void mark_change(TokenizerState& state, std::size_t place, Kind kind) {
        const std::uint64_t now = static_cast<std::uint64_t>(kind == Kind::letter) |
                                  (static_cast<std::uint64_t>(kind == Kind::mark) & state.inside);
        mark_edge(state, place, now ^ state.inside);
        state.inside = now;
    }

    // Take code points one by one until it is worth trying blocks again, or the end.
    static NEARDUP_INLINE TokenizerState other_text(const std::uint8_t* text, std::size_t size,
                                                    std::uint8_t* out, TokenizerState state) {
        const UnicodeTable& table = unicode_table();
        std::uint8_t tail[8];
        for (bool first = true; state.at < size; first = false) {
            const std::size_t left = size - state.at;
            const std::uint8_t* from = text + state.at;
            if (left >= 8) {
                const bool ascii = (load64(from) & 0x8080808080808080ULL) == 0;
                if (!first && (ascii || is_cyrillic_lead(from[0]))) break;
                if (is_han(from)) {
                    state = han_run(text, size, out, state);
                    continue;
                }
            } else {
                std::memset(tail, 0, sizeof tail);
                std::memcpy(tail, from, left);
                from = tail;
            }
            std::uint32_t length;
            if (from[0] < 0xE0) {
                const CodePoint point = decode_short(from);
                length = point.length;
                const ShortEntry entry = table.short_entry(point.code);
                mark_change(state, state.written, kind_of(entry));
                std::memcpy(out + state.written, &entry, 4);
                state.written += length_of(entry);
            } else {
                const CodePoint point = decode_long(from);
                length = point.length;
                const LongEntry entry = table.long_entry(point.code);
                const std::size_t begin = state.written;
                state.written += copy_lowered(point, entry, from, out + begin);
                if (kind_of_long(entry) == Kind::solo) {
                    mark_edge(state, begin, state.inside);
                    mark_edge(state, begin, 1);
                    mark_edge(state, state.written, 1);
                    state.inside = 0;
                } else {
                    mark_change(state, begin, kind_of_long(entry));
                }
            }
            state.at += length < left ? length : left;
        }
        return state;
    }

    static NEARDUP_INLINE TokenizerState han_run(const std::uint8_t* text, std::size_t size,
                                                 std::uint8_t* out, TokenizerState state) {
        mark_edge(state, state.written, state.inside);
        state.inside = 0;
        const std::size_t begin = state.written;
        do {
            std::memcpy(out + state.written, text + state.at, 4);
            state.written += kHanBytes;
            state.at += kHanBytes;
        } while (state.at + 4 <= size && is_han(text + state.at));
        mark_edge(state, begin | kHanRun, 1);
        mark_edge(state, state.written, 1);
        state.in_runs += (state.written - begin) / kHanBytes - 1;
        return state;
    }

    static NEARDUP_INLINE std::uint32_t copy_lowered(CodePoint point, LongEntry entry,
                                                     const std::uint8_t* from, std::uint8_t* to) {
        const std::int32_t delta = lower_delta_of(entry);
        if (delta != 0) [[unlikely]]
            return encode_utf8(
                static_cast<std::uint32_t>(static_cast<std::int32_t>(point.code) + delta), to);
        std::memcpy(to, from, 4);
        return point.length;
    }

    Buffer<std::uint8_t> lowered_;
    Buffer<std::uint32_t> edges_;
    std::size_t written_ = 0;
    std::size_t edge_count_ = 0;
    std::size_t words_ = 0;
};

}  // namespace neardup::NEARDUP_ISA
