// One document → its fingerprint: bit-sliced counts over its features, distinct or with
// repetitions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "neardup/buffer.hpp"
#include "neardup/isa.hpp"
#include "neardup/text/distinct.hpp"
#include "neardup/text/feature_stream.hpp"
#include "neardup/text/majority.hpp"
#include "neardup/text/nd1.hpp"
#include "neardup/text/recipe.hpp"

namespace neardup::NEARDUP_ISA {

// Bytes that a worker keeps allocated between documents.
inline constexpr std::size_t kKeepRoom = 64 << 20;
inline constexpr std::size_t kMostWords = std::numeric_limits<std::uint32_t>::max();

template <typename Hash>
class Fingerprinter {
  public:
    Fingerprinter(const Recipe& recipe, const Hash& hash)
        : recipe_(recipe), hash_(hash), stream_(hash) {
        counters_ = counter_room_.reserve(recipe.row_limbs());
    }

    // Write the fingerprint of a text; return its number of words. Without any it is all zero.
    std::uint32_t run(const std::uint8_t* text, std::size_t size, std::uint64_t* out) {
        waiting_ = reduced_ = counted_ = 0;
        for (std::size_t place = 0; place < recipe_.row_limbs(); ++place)
            counters_[place].restart();
        const std::size_t words = stream_.run(recipe_.shingle, text, size, *this);
        finish(words, out);
        if (stream_.bytes() + features_.bytes() + set_.bytes() > kKeepRoom) release();
        return static_cast<std::uint32_t>(words < kMostWords ? words : kMostWords);
    }

    // Receives the features of a text, piece by piece.
    std::uint64_t* room(std::size_t count) {
        return features_.reserve(waiting_ + count) + waiting_;
    }

    void take(std::size_t count) {
        if (!recipe_.distinct) return count_bits(features_.data(), count);
        waiting_ += count;
        // Most documents are reduced once, at their end; a very long one before, so that what it
        // repeats takes no room.
        if (waiting_ - reduced_ >= kReduceAt) {
            waiting_ = reduced_ + set_.run(features_.data() + reduced_, waiting_ - reduced_);
            reduced_ = waiting_;
        }
    }

  private:
    static constexpr std::size_t kWidenAtOnce = 1024;
    static constexpr std::size_t kReduceAt = 1 << 14;

    void finish(std::size_t words, std::uint64_t* out) {
        const std::size_t row_limbs = recipe_.row_limbs();
        std::memset(out, 0, row_limbs * sizeof *out);
        if (words == 0) return;
        if (recipe_.distinct) {
            waiting_ = set_.run(features_.data(), waiting_);
            count_bits(features_.data(), waiting_);
        }
        // The sum over n features is positive where more than n / 2 of them have the bit.
        const std::uint64_t least = recipe_.ties_up ? (counted_ + 1) / 2 : counted_ / 2 + 1;
        for (std::size_t place = 0; place < row_limbs; ++place)
            out[place] = counters_[place].at_least(least);
        if (recipe_.bits % 64 != 0) out[row_limbs - 1] &= ~0ULL << (64 - recipe_.bits % 64);
    }

    void count_bits(const std::uint64_t* features, std::size_t count) {
        counters_[0].add(features, count);
        counted_ += count;
        for (std::size_t place = 1; place < recipe_.row_limbs(); ++place) {
            for (std::size_t i = 0; i < count; i += kWidenAtOnce) {
                const std::size_t some = count - i < kWidenAtOnce ? count - i : kWidenAtOnce;
                hash_.widen_all(features + i, some, place, wide_);
                counters_[place].add(wide_, some);
            }
        }
    }

    void release() {
        stream_.release();
        features_.release();
        set_.release();
    }

    Recipe recipe_;
    Hash hash_;
    FeatureStream<Hash> stream_;
    DistinctSet set_;
    Buffer<std::uint64_t> features_;
    Buffer<BitCounter> counter_room_;
    BitCounter* counters_;
    std::size_t waiting_ = 0;  // features in features_
    std::size_t reduced_ = 0;  // of them, those that were reduced already, part by part
    std::size_t counted_ = 0;  // features already in the counters
    std::uint64_t wide_[kWidenAtOnce];
};

}  // namespace neardup::NEARDUP_ISA
