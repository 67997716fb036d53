// One text → the hashes of its features, in pieces small enough to stay in cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "neardup/buffer.hpp"
#include "neardup/isa.hpp"
#include "neardup/text/nd1.hpp"
#include "neardup/text/recipe.hpp"
#include "neardup/text/tokenize.hpp"
#include "neardup/text/units.hpp"

namespace neardup::NEARDUP_ISA {

template <typename Hash>
class FeatureStream {
  public:
    explicit FeatureStream(const Hash& hash) : hash_(hash), characters_(hash) {}

    // Pass the features of a text to `sink`, with repetitions; return the number of words. Features
    // of a text without words must be ignored. sink.room(n) returns memory for n features,
    // sink.take(n) says how many were written there.
    template <typename Sink>
    std::size_t run(const Shingle& shingle, const std::uint8_t* text, std::size_t size,
                    Sink& sink) {
        shingle_ = shingle;
        carried_ = 0;
        if (!shingle_.words) {
            characters_.restart();
            size = trimmed_size(text, size);
        }
        std::size_t words = 0;
        bool made_any = false;
        for (std::size_t begin = 0; begin < size;) {
            const std::size_t end = piece_end(text, begin, size);
            tokens_.run(text + begin, end - begin);
            words += tokens_.words();
            made_any |= take_piece(sink);
            begin = end;
        }
        if (words != 0 && !made_any) {
            *sink.room(1) = hash_.whole(values_.data(), carried_);
            sink.take(1);
        }
        return words;
    }

    std::size_t bytes() const { return tokens_.bytes() + values_.bytes(); }
    void release() {
        tokens_.release();
        values_.release();
    }

  private:
    static constexpr std::size_t kPieceBytes = 16 << 10;

    // A piece ends where no word can run on: before ASCII that is no word character, or before a
    // Han character (lead bytes E5 to E9 hold no others).
    std::size_t piece_end(const std::uint8_t* text, std::size_t begin, std::size_t size) const {
        const std::size_t least =
            shingle_.size < kPieceBytes / 64 ? kPieceBytes : 64 * shingle_.size;
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

    // The features that end in this piece; whether there were any.
    template <typename Sink>
    bool take_piece(Sink& sink) {
        const std::size_t room = shingle_.words ? tokens_.words() : tokens_.lowered_size() + 1;
        std::uint64_t* values = values_.reserve(carried_ + room + kValuesBehind);
        const std::size_t count =
            carried_ + (shingle_.words ? word_values(hash_, tokens_, values + carried_)
                                       : characters_.run(tokens_.lowered(), tokens_.lowered_size(),
                                                         values + carried_));
        carried_ = count;
        if (count < shingle_.size) return false;
        sink.take(hash_.windows(values, count, shingle_.size, sink.room(count)));
        carried_ = shingle_.size - 1;
        std::memmove(values, values + count - carried_, carried_ * sizeof *values);
        return true;
    }

    Hash hash_;
    Shingle shingle_ = {};
    Tokenizer tokens_;
    CharacterValues<Hash> characters_;
    Buffer<std::uint64_t> values_;
    std::size_t carried_ = 0;  // unit values kept for windows that reach into the next piece
};

}  // namespace neardup::NEARDUP_ISA
