// One document → its fingerprint, in pieces small enough to stay in cache.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "buffer.hpp"
#include "distinct.hpp"
#include "isa.hpp"
#include "majority.hpp"
#include "nd1.hpp"
#include "recipe.hpp"
#include "shingle.hpp"
#include "tokenize.hpp"
#include "units.hpp"

namespace neardup::NEARDUP_ISA {

class Fingerprinter {
  public:
    explicit Fingerprinter(const Recipe& recipe) : recipe_(recipe) {
        counters_ = counter_room_.reserve(recipe.row_words());
    }

    // Write the fingerprint of a text; return its number of words. Without any it is all zero.
    std::uint32_t run(const std::uint8_t* text, std::size_t size, std::uint64_t* out) {
        word_count_ = feature_count_ = counted_ = carried_ = 0;
        characters_.restart();
        for (std::size_t place = 0; place < recipe_.row_words(); ++place) counters_[place].restart();
        if (!recipe_.words) size = trimmed_size(text, size);
        std::size_t pieces = 0;
        for (std::size_t begin = 0; begin < size; ++pieces) {
            const std::size_t end = piece_end(text, begin, size);
            take_piece(text + begin, end - begin);
            begin = end;
        }
        finish(pieces, out);
        if (room() > kKeepRoom) release();
        return static_cast<std::uint32_t>(
            word_count_ < kMostWords ? word_count_ : kMostWords);
    }

  private:
    static constexpr std::size_t kPieceBytes = 16 << 10;
    static constexpr std::size_t kKeepRoom = 64 << 20;
    static constexpr std::size_t kWidenAtOnce = 1024;
    static constexpr std::size_t kMostWords = std::numeric_limits<std::uint32_t>::max();

    // A piece ends where no word can run on: before ASCII that is no word character, or before a
    // Han character (lead bytes E5 to E9 hold no others).
    std::size_t piece_end(const std::uint8_t* text, std::size_t begin, std::size_t size) const {
        const std::size_t least = recipe_.size < kPieceBytes / 64 ? kPieceBytes : 64 * recipe_.size;
        if (size - begin <= least + least / 2) return size;
        std::size_t end = begin + least;
        while (end < size) {
            const std::uint8_t byte = text[end];
            if (byte >= 0xE5 && byte <= 0xE9) break;
            if (byte < 0x80 && kind_of(unicode_table().short_entry(byte)) != Kind::letter) break;
            ++end;
        }
        return end;
    }

    void take_piece(const std::uint8_t* text, std::size_t size) {
        tokens_.run(text, size);
        word_count_ += tokens_.words();
        const std::size_t room = recipe_.words ? tokens_.words() : tokens_.lowered_size() + 1;
        std::uint64_t* values = values_.reserve(carried_ + room);
        const std::size_t count =
            carried_ + (recipe_.words
                            ? word_values(tokens_, values + carried_)
                            : characters_.run(tokens_.lowered(), tokens_.lowered_size(),
                                              values + carried_));
        carried_ = count;
        if (count < recipe_.size) return;
        std::uint64_t* features = features_.reserve(feature_count_ + count) + feature_count_;
        std::size_t made = window_features(values, count, recipe_.size, features);
        carried_ = recipe_.size - 1;
        std::memmove(values, values + count - carried_, carried_ * sizeof *values);
        if (recipe_.distinct) {
            feature_count_ += set_.run(features, made);
        } else {
            count_bits(features, made);
            feature_count_ = 0;
        }
    }

    void finish(std::size_t pieces, std::uint64_t* out) {
        const std::size_t row_words = recipe_.row_words();
        std::memset(out, 0, row_words * sizeof *out);
        if (word_count_ == 0) return;
        if (feature_count_ == 0 && counted_ == 0) {
            *features_.reserve(1) = whole_feature(values_.data(), carried_);
            feature_count_ = 1;
        } else if (recipe_.distinct && pieces > 1) {
            feature_count_ = set_.run(features_.data(), feature_count_);
        }
        count_bits(features_.data(), feature_count_);
        // The sum over n features is positive where more than n / 2 of them have the bit.
        const std::uint64_t least = recipe_.ties_up ? (counted_ + 1) / 2 : counted_ / 2 + 1;
        for (std::size_t place = 0; place < row_words; ++place)
            out[place] = counters_[place].at_least(least);
        if (recipe_.bits % 64 != 0) out[row_words - 1] &= ~0ULL << (64 - recipe_.bits % 64);
    }

    void count_bits(const std::uint64_t* features, std::size_t count) {
        counters_[0].add(features, count);
        counted_ += count;
        for (std::size_t place = 1; place < recipe_.row_words(); ++place) {
            for (std::size_t i = 0; i < count; i += kWidenAtOnce) {
                const std::size_t some = count - i < kWidenAtOnce ? count - i : kWidenAtOnce;
                for (std::size_t j = 0; j < some; ++j) wide_[j] = widen(features[i + j], place);
                counters_[place].add(wide_, some);
            }
        }
    }

    std::size_t room() const {
        return tokens_.bytes() + values_.bytes() + features_.bytes() + set_.bytes();
    }

    void release() {
        tokens_.release();
        values_.release();
        features_.release();
        set_.release();
    }

    Recipe recipe_;
    Tokenizer tokens_;
    CharacterValues characters_;
    DistinctSet set_;
    Buffer<std::uint64_t> values_, features_;
    Buffer<BitCounter> counter_room_;
    BitCounter* counters_;
    std::size_t word_count_ = 0;
    std::size_t feature_count_ = 0;  // features waiting in features_
    std::size_t counted_ = 0;        // features already in the counters
    std::size_t carried_ = 0;        // unit values kept for windows that reach into the next piece
    std::uint64_t wide_[kWidenAtOnce];
};

}  // namespace neardup::NEARDUP_ISA
