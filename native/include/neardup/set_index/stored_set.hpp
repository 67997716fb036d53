// A set of features as bytes.
//
// The first four bytes are the number of features and, in the two topmost bits, the form:
//
//     0  32-bit features, ascending
//     1  the same in less room: leading 8 bits in unary (bit i + leading bits of feature i is set),
//        then the other 24 bits of each
//     2  the same with leading 16 bits in unary, and the other 16 bits of each
//     3  64-bit features, ascending, then the weight of each as a double
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "neardup/set_join/pair.hpp"

namespace neardup {

inline constexpr std::size_t kMostFeatures = (std::size_t{1} << 30) - 1;

std::size_t stored_bytes(std::size_t features, bool weighted);

// To memory of `stored_bytes`.
void store_set(const std::uint32_t* features, std::size_t count, std::uint8_t* to);
void store_weighted_set(const DocumentView& set, std::uint8_t* to);

// Bytes that hold a set, perhaps damaged and not aligned.
struct StoredSet {
    const std::uint8_t* data;
    std::size_t size;
};

// The number of features; throws std::invalid_argument if the bytes cannot be those of a set.
std::size_t features_in(const StoredSet& stored);

// Whether sums of such weights are exact; others are refused.
inline bool is_weight(double weight) {
    return weight == 0 || (weight >= 1e-100 && weight <= 1e100);
}

// A set read from its bytes; reuses its memory. Nothing outside the bytes is ever read; features of
// damaged bytes may be in disorder, but weights are weights.
class ReadSet {
  public:
    void read(const StoredSet& stored);

    bool weighted() const { return weighted_; }
    std::size_t size() const { return size_; }
    const std::uint32_t* features() const { return features_.data(); }
    DocumentView view() const { return {hashes_.data(), weights_.data(), size_}; }

  private:
    std::size_t size_ = 0;
    bool weighted_ = false;
    std::vector<std::uint32_t> features_;
    std::vector<std::uint64_t> hashes_;
    std::vector<double> weights_;
};

}  // namespace neardup
