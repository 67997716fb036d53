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
#include "neardup/text/places.hpp"
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
    const std::uint32_t two = at[0] >= 0xC2;
    const std::uint32_t of_two = (at[0] & 31U) << 6 | (at[1] & 63U);
    return {at[0] ^ ((at[0] ^ of_two) & (0 - two)), 1 + two};  // a select may branch
}

// How far a pass over the text has come. It is handed on by value: the compiler must assume that
// writing a byte changes anything that lies in memory.
struct TokenizerState {
    std::size_t at = 0;        // bytes of text taken
    std::size_t written = 0;   // bytes of lowered text
    std::uint32_t* edge;       // where the next edge goes
    std::uint64_t inside = 0;  // 1 while the last character belongs to an open word
    std::uint64_t in_run = 0;  // 1 while it belongs to an open run of solo characters
    std::size_t in_runs = 0;   // words beyond the first of each run
    SoloCarry carry = {};      // of a character that the last block began
    bool solos = false;        // the last block had solo characters, or a carry
};

class Tokenizer {
  public:
    // Cut `size` bytes of text. The results stay valid until the next call.
    void run(const std::uint8_t* text, std::size_t size) {
        // Lower case takes at most half as much room again (U+023A: two bytes become three), bytes
        // that are not UTF-8 up to twice as much. There are at most two edges to a solo character
        // and its three bytes, and one to any other byte.
        std::uint8_t* out = lowered_.reserve(2 * size + 64 + kReadAhead);
        std::uint32_t* edges = edges_.reserve(size + 2 * 64);
        TokenizerState state{.edge = edges};
        while (state.at < size) {
            state = blocks(text, size, out, state);
            if (state.at < size) state = other_text(text, size, out, state);
        }
        mark_edge(state, state.written, state.inside | state.in_run);
        std::memset(out + state.written, 0, kReadAhead);
        written_ = state.written;
        edge_count_ = static_cast<std::size_t>(state.edge - edges);
        words_ = edge_count_ / 2 + state.in_runs;
    }

    const std::uint8_t* lowered() { return lowered_.data(); }
    std::size_t lowered_size() const { return written_; }

    // Start and end of each word, or run of solo characters of three bytes, in the lowered text.
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
        std::uint8_t padded[1 + 64 + 2];
        while (state.at < size) {
            const std::size_t left = size - state.at;
            const std::uint8_t* from = text + state.at;
            if (left < 64 + 2) from = copy_padded(from, left, padded);
            std::uint8_t* const to = out + state.written;
            BlockBits bits =
                state.solos ? lower_solo_block(from, to, state.carry) : lower_ascii_block(from, to);
            if (bits.unknown != 0 && !state.solos) {
                const std::uint8_t lead = from[std::countr_zero(bits.unknown)];
                if (is_cyrillic_lead(lead)) {
                    // At the start of the text there is no byte before it to be read.
                    if (from == text) from = copy_padded(from, left, padded);
                    bits = lower_cyrillic_block(from, to);
                } else if (lead >= 0xE2) {
                    bits = lower_solo_block(from, to, state.carry);
                }
            }
            state.solos = (bits.solos | bits.carry.known) != 0;
            if (bits.unknown == 0 && left >= 64) [[likely]] {
                state.carry = bits.carry;
                mark_block(state, bits, 64);
                state.at += 64;
                state.written += 64;
                continue;
            }
            const auto known = static_cast<std::size_t>(std::countr_zero(bits.unknown));
            const std::size_t step = known < left ? known : left;
            state.carry = {};
            if (step != 0) mark_block(state, bits, step);
            state.at += step;
            state.written += step;
            if (known < 63) break;
        }
        return state;
    }

    // Up to 64 bytes of text with zeros around them; where they begin.
    static NEARDUP_INLINE const std::uint8_t* copy_padded(const std::uint8_t* from,
                                                          std::size_t left,
                                                          std::uint8_t (&padded)[67]) {
        std::memset(padded, 0, sizeof padded);
        std::memcpy(padded + 1, from, left < 66 ? left : 66);
        return padded + 1;
    }

    // The edges in the first `step` bytes of a block.
    static NEARDUP_INLINE void mark_block(TokenizerState& state, const BlockBits& bits,
                                          std::size_t step) {
        const std::uint64_t stepped_over = ~0ULL >> (64 - step);
        const std::uint64_t changes = (bits.word ^ (bits.word << 1 | state.inside)) & stepped_over;
        if ((bits.solos | state.in_run) == 0) [[likely]] {
            mark_edges(state, changes);
        } else {
            const std::uint64_t solos = bits.solos & stepped_over, run = bits.run;
            const std::uint64_t run_changes = (run ^ (run << 1 | state.in_run)) & stepped_over;
            state.in_runs += static_cast<std::size_t>(std::popcount(solos)) -
                             static_cast<std::size_t>(std::popcount(run_changes & run));
            if ((changes & run_changes) == 0)
                mark_edges(state, changes | run_changes);
            else
                mark_meeting_edges(state, changes, run_changes);
            state.in_run = run >> (step - 1) & 1;
        }
        state.inside = bits.word >> (step - 1) & 1;
    }

    // Where a word ends and a run begins, or the other way round, there are two edges.
    static NEARDUP_APART void mark_meeting_edges(TokenizerState& state, std::uint64_t changes,
                                                 std::uint64_t run_changes) {
        for (std::uint64_t all = changes | run_changes; all != 0; all &= all - 1) {
            const std::uint64_t lowest = all & (0 - all);
            const std::size_t place =
                state.written + static_cast<std::size_t>(std::countr_zero(all));
            mark_edge(state, place, 1);
            mark_edge(state, place, (changes & run_changes & lowest) != 0);
        }
    }

    // At most one edge to a byte, and 64 places more are written.
    static NEARDUP_INLINE void mark_edges(TokenizerState& state, std::uint64_t changes) {
        state.edge = write_places(changes, static_cast<std::uint32_t>(state.written), state.edge);
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
        mark_edge(state, state.written, state.in_run);
        state.in_run = 0;
        std::uint8_t tail[8];
        for (bool first = true; state.at < size; first = false) {
            const std::size_t left = size - state.at;
            const std::uint8_t* from = text + state.at;
            if (left >= 8) {
                const bool ascii = (load64(from) & 0x8080808080808080ULL) == 0;
                const bool solos = begins_solo(from) && begins_solo(from + kSoloBytes);
                if (!first && (ascii || solos || is_cyrillic_lead(from[0]))) break;
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
