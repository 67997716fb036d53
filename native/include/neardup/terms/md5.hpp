// MD5 (RFC 1321) of several terms side by side, one in each lane of a vector.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "neardup/isa.hpp"
#include "neardup/terms/term_list.hpp"

namespace neardup::NEARDUP_ISA {

// Two registers of lanes: a step of MD5 waits for the one before, so one register leaves half of
// the processor idle.
#if defined(__AVX512F__)
inline constexpr int kMd5Lanes = 32;
#elif defined(__AVX2__)
inline constexpr int kMd5Lanes = 16;
#else
inline constexpr int kMd5Lanes = 8;
#endif

class Md5Lanes {
  public:
    // Hash up to kMd5Lanes terms; `limbs` (1 or 2) limbs of each go to `rows`.
    static void run(const TermList& terms, std::size_t first, std::size_t count, std::size_t limbs,
                    std::uint64_t* rows) {
        std::size_t most = 0;
        std::size_t lengths[kMd5Lanes] = {};
        for (std::size_t lane = 0; lane < count; ++lane) {
            lengths[lane] = static_cast<std::size_t>(terms.lengths[first + lane]);
            if (lengths[lane] > most) most = lengths[lane];
        }
        State state = {{}, {}, {}, {}};
        for (int half = 0; half < 2; ++half) {
            state.a[half] = Lanes{} + 0x67452301U;
            state.b[half] = Lanes{} + 0xEFCDAB89U;
            state.c[half] = Lanes{} + 0x98BADCFEU;
            state.d[half] = Lanes{} + 0x10325476U;
        }
        alignas(64) std::uint32_t words[16][kMd5Lanes];
        alignas(64) std::uint32_t active[kMd5Lanes];
        for (std::size_t block = 0; block < blocks_of(most); ++block) {
            for (std::size_t lane = 0; lane < kMd5Lanes; ++lane) {
                const bool runs = lane < count && block < blocks_of(lengths[lane]);
                active[lane] = runs ? ~0U : 0U;
                if (runs)
                    load(terms.data + terms.begins[first + lane], lengths[lane], block, lane,
                         words);
                else
                    for (auto& word : words) word[lane] = 0;
            }
            step(state, words, active);
        }
        for (std::size_t lane = 0; lane < count; ++lane) {
            const auto half = lane / kHalf, at = lane % kHalf;
            rows[lane * limbs] = limb(state.a[half][at], state.b[half][at]);
            if (limbs == 2) rows[lane * 2 + 1] = limb(state.c[half][at], state.d[half][at]);
        }
    }

  private:
    static constexpr int kHalf = kMd5Lanes / 2;
    typedef std::uint32_t Lanes __attribute__((vector_size(kHalf * 4)));

    struct State {
        Lanes a[2], b[2], c[2], d[2];
    };

    // The length takes eight bytes of the last block, a mark one.
    static NEARDUP_INLINE std::size_t blocks_of(std::size_t length) { return (length + 72) / 64; }

    static NEARDUP_INLINE std::uint64_t limb(std::uint32_t first, std::uint32_t second) {
        return __builtin_bswap64(std::uint64_t{second} << 32 | first);
    }

    static NEARDUP_INLINE void load(const std::uint8_t* term, std::size_t length, std::size_t block,
                                    std::size_t lane, std::uint32_t (&words)[16][kMd5Lanes]) {
        std::uint8_t bytes[64];
        const std::size_t begin = block * 64;
        if (begin + 64 <= length) {
            std::memcpy(bytes, term + begin, 64);
        } else {
            std::memset(bytes, 0, sizeof bytes);
            const std::size_t left = begin < length ? length - begin : 0;
            if (left != 0) std::memcpy(bytes, term + begin, left);
            if (begin <= length) bytes[left] = 0x80;
            if (block + 1 == blocks_of(length)) {
                const std::uint64_t bits = std::uint64_t{length} * 8;
                std::memcpy(bytes + 56, &bits, 8);
            }
        }
        for (int i = 0; i < 16; ++i) std::memcpy(&words[i][lane], bytes + 4 * i, 4);
    }

    static NEARDUP_INLINE Lanes read(const std::uint32_t* lanes) {
        Lanes read;
        std::memcpy(&read, lanes, sizeof read);
        return read;
    }

    // One of the four rounds: `F` mixes three of the four numbers, `kWord` and `kWordStep` give the
    // order of the words.
    template <int kWord, int kWordStep, typename F>
    static NEARDUP_INLINE void round(State& s, const std::uint32_t (&words)[16][kMd5Lanes],
                                     const std::uint32_t (&sines)[16], const int (&turns)[4],
                                     const F& f) {
#pragma GCC unroll 16
        for (int i = 0; i < 16; ++i) {
            const int word = (kWord + kWordStep * i) % 16;
            const int turn = turns[i % 4];
            for (int half = 0; half < 2; ++half) {
                const Lanes sum = s.a[half] + f(s.b[half], s.c[half], s.d[half]) + sines[i] +
                                  read(words[word] + half * kHalf);
                const Lanes turned = (sum << turn | sum >> (32 - turn)) + s.b[half];
                s.a[half] = s.d[half];
                s.d[half] = s.c[half];
                s.c[half] = s.b[half];
                s.b[half] = turned;
            }
        }
    }

    static NEARDUP_APART void step(State& state, const std::uint32_t (&words)[16][kMd5Lanes],
                                   const std::uint32_t (&active)[kMd5Lanes]) {
        // floor(2^32 |sin(i + 1)|), by rounds.
        static constexpr std::uint32_t kSines[4][16] = {
            {0xD76AA478, 0xE8C7B756, 0x242070DB, 0xC1BDCEEE, 0xF57C0FAF, 0x4787C62A, 0xA8304613,
             0xFD469501, 0x698098D8, 0x8B44F7AF, 0xFFFF5BB1, 0x895CD7BE, 0x6B901122, 0xFD987193,
             0xA679438E, 0x49B40821},
            {0xF61E2562, 0xC040B340, 0x265E5A51, 0xE9B6C7AA, 0xD62F105D, 0x02441453, 0xD8A1E681,
             0xE7D3FBC8, 0x21E1CDE6, 0xC33707D6, 0xF4D50D87, 0x455A14ED, 0xA9E3E905, 0xFCEFA3F8,
             0x676F02D9, 0x8D2A4C8A},
            {0xFFFA3942, 0x8771F681, 0x6D9D6122, 0xFDE5380C, 0xA4BEEA44, 0x4BDECFA9, 0xF6BB4B60,
             0xBEBFBC70, 0x289B7EC6, 0xEAA127FA, 0xD4EF3085, 0x04881D05, 0xD9D4D039, 0xE6DB99E5,
             0x1FA27CF8, 0xC4AC5665},
            {0xF4292244, 0x432AFF97, 0xAB9423A7, 0xFC93A039, 0x655B59C3, 0x8F0CCC92, 0xFFEFF47D,
             0x85845DD1, 0x6FA87E4F, 0xFE2CE6E0, 0xA3014314, 0x4E0811A1, 0xF7537E82, 0xBD3AF235,
             0x2AD7D2BB, 0xEB86D391}};
        static constexpr int kTurns[4][4] = {
            {7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
        State s = state;
        round<0, 1>(s, words, kSines[0], kTurns[0],
                    [](Lanes b, Lanes c, Lanes d) { return d ^ (b & (c ^ d)); });
        round<1, 5>(s, words, kSines[1], kTurns[1],
                    [](Lanes b, Lanes c, Lanes d) { return c ^ (d & (b ^ c)); });
        round<5, 3>(s, words, kSines[2], kTurns[2],
                    [](Lanes b, Lanes c, Lanes d) { return b ^ c ^ d; });
        round<0, 7>(s, words, kSines[3], kTurns[3],
                    [](Lanes b, Lanes c, Lanes d) { return c ^ (b | ~d); });
        for (int half = 0; half < 2; ++half) {
            const Lanes mask = read(active + half * kHalf);
            state.a[half] += s.a[half] & mask;
            state.b[half] += s.b[half] & mask;
            state.c[half] += s.c[half] & mask;
            state.d[half] += s.d[half] & mask;
        }
    }
};

inline void md5_terms(const TermList& terms, std::size_t first, std::size_t last, std::size_t limbs,
                      std::uint64_t* rows) {
    for (std::size_t at = first; at < last; at += kMd5Lanes) {
        const std::size_t left = last - at;
        Md5Lanes::run(terms, at, left < kMd5Lanes ? left : kMd5Lanes, limbs, rows + at * limbs);
    }
}

}  // namespace neardup::NEARDUP_ISA
