// Chinese text → words, as jieba 0.42.1 cuts them with its tables, in linear time.
// kernels/reference/chinese.py is the twin; arithmetic and tie-breaking are the same.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "neardup/terms/characters.hpp"
#include "neardup/text/recipe.hpp"

namespace neardup {

// Words are stored as a tree of their code points; an edge is found by a hash of the node and the
// code point. jieba's 349,046 words take about 12 MB.
class Segmenter {
  public:
    // States of a character: beginning, middle or end of a word, or a word by itself.
    enum State : std::uint8_t { kBegin, kMiddle, kEnd, kSingle };
    using Scores = std::array<double, 4>;

    // `weights` are logarithms of probabilities, negative; 0 marks a string that is no word but has
    // its beginnings stored. `moves` are those from B to E and M, from M to E and M, from E to B
    // and S, and from S to B and S.
    Segmenter(const Column& words, const double* weights, double unknown_word,
              const std::uint32_t* characters, const Scores* emissions, std::size_t count,
              const Scores& starts, const std::array<double, 8>& moves);

    // Buffers of one thread.
    class Work {
        friend class Segmenter;
        std::vector<Character> block;
        std::vector<std::uint32_t> places;  // of the characters, in bytes
        std::vector<double> scores;
        std::vector<std::uint32_t> ends;
        std::vector<std::array<State, 4>> came_from;
        std::vector<std::uint32_t> guessed;
    };

    // Call take(begin, end, characters) for the stretch of bytes of every word, in their order.
    // Characters that jieba never joins are left out.
    template <typename Take>
    void cut(const std::uint8_t* text, std::size_t size, Work& work, const Take& take) const {
        const std::uint8_t* const end = text + size;
        for (const std::uint8_t* at = text; at != end;) {
            work.block.clear();
            work.places.clear();
            Character character = character_at(at, end);
            while (joins(character.code)) {
                work.block.push_back(character);
                work.places.push_back(static_cast<std::uint32_t>(at - text));
                at += character.length;
                if (at == end) break;
                character = character_at(at, end);
            }
            work.places.push_back(static_cast<std::uint32_t>(at - text));
            if (!work.block.empty()) cut_block(work, take);
            if (at != end) at += character.length;
        }
    }

    static bool is_han(std::uint32_t code) { return code >= 0x4E00 && code <= 0x9FD5; }

  private:
    static constexpr std::uint32_t kRoot = 0, kNone = ~0U;
    static constexpr std::uint32_t kDirect = 0xA000;

    struct Edge {
        std::uint64_t key = ~0ULL;
        std::uint32_t node = kNone;
    };

    static bool is_letter_or_digit(std::uint32_t code) {
        return (code | 32) - 'a' < 26U || code - '0' < 10U;
    }
    static bool joins(std::uint32_t code) {
        return is_han(code) || is_letter_or_digit(code) || code == '+' || code == '#' ||
               code == '&' || code == '.' || code == '_' || code == '%' || code == '-';
    }

    template <typename Take>
    void cut_block(Work& work, const Take& take) const {
        find_likeliest(work);
        const std::size_t size = work.block.size();
        std::size_t singles = 0;
        for (std::size_t start = 0; start < size;) {
            const std::size_t end = work.ends[start];
            if (end - start > 1) {
                join(work, singles, start, take);
                give(work, start, end, take);
                singles = end;
            }
            start = end;
        }
        join(work, singles, size, take);
    }

    template <typename Take>
    static void give(const Work& work, std::size_t begin, std::size_t end, const Take& take) {
        take(work.places[begin], work.places[end], end - begin);
    }

    // Join single characters in a row to words that are not in the dictionary.
    template <typename Take>
    void join(Work& work, std::size_t begin, std::size_t end, const Take& take) const {
        if (end - begin < 2 || is_word(work, begin, end)) {
            for (; begin < end; ++begin) give(work, begin, begin + 1, take);
            return;
        }
        const auto code = [&](std::size_t at) { return at < end ? work.block[at].code : 0; };
        const auto is_digit = [&](std::size_t at) { return code(at) - '0' < 10U; };
        while (begin < end) {
            std::size_t stop = begin;
            if (is_han(code(begin))) {
                while (is_han(code(stop))) ++stop;
                guess(work, begin, stop);
                std::size_t from = begin;
                for (std::size_t i = work.guessed.size(); i-- != 0;) {
                    give(work, from, work.guessed[i], take);
                    from = work.guessed[i];
                }
            } else if (is_letter_or_digit(code(begin))) {
                while (is_letter_or_digit(code(stop))) ++stop;
                if (code(stop) == '.' && is_digit(stop + 1))
                    for (++stop; is_digit(stop);) ++stop;
                if (code(stop) == '%') ++stop;
                give(work, begin, stop, take);
            } else {
                while (stop < end && !is_han(code(stop)) && !is_letter_or_digit(code(stop))) ++stop;
                give(work, begin, stop, take);
            }
            begin = stop;
        }
    }

    // For each place, the end of the word that starts there on the likeliest path to the end.
    void find_likeliest(Work& work) const;
    // The ends of the words of a run of Han characters, the last first, by the likeliest path
    // through the states.
    void guess(Work& work, std::size_t begin, std::size_t end) const;
    bool is_word(const Work& work, std::size_t begin, std::size_t end) const;

    std::uint32_t child(std::uint32_t node, std::uint32_t code) const {
        if (node == kRoot && code < kDirect) return first_[code];
        const std::uint64_t key = std::uint64_t{node} << 32 | code;
        for (std::size_t at = slot_of(key);; at = (at + 1) & (edges_.size() - 1))
            if (edges_[at].key == key || edges_[at].node == kNone) return edges_[at].node;
    }
    std::size_t slot_of(std::uint64_t key) const {
        return (key * 0x9E3779B97F4A7C15ULL >> 20) & (edges_.size() - 1);
    }
    std::uint32_t child_made(std::uint32_t node, std::uint32_t code);
    void grow();

    std::vector<std::uint32_t> first_;  // the children of the root
    std::vector<Edge> edges_;
    std::vector<double> weights_;  // of nodes; 0: only the beginning of words
    std::size_t edge_count_ = 0;
    double unknown_word_;
    std::vector<std::uint32_t> emission_of_;
    std::vector<Scores> emissions_;
    Scores starts_;
    std::array<double, 8> moves_;
};

}  // namespace neardup
