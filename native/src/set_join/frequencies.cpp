#include "neardup/set_join/frequencies.hpp"

#include <algorithm>
#include <bit>

namespace neardup {

namespace {

// Counts of the values of one bucket, which mostly stay in the cache. A count of 0 marks a free
// slot.
class Table {
  public:
    void begin(std::size_t values) {
        bits_ = std::max<int>(4, static_cast<int>(std::bit_width(values)) + 1);
        keys_.resize(std::max(keys_.size(), std::size_t{1} << bits_));
        counts_.assign(std::size_t{1} << bits_, 0);
    }

    // The slot of a value, which is counted once more.
    std::uint32_t count(std::uint64_t value) {
        const std::size_t mask = (std::size_t{1} << bits_) - 1;
        std::size_t slot = value * 0x9E3779B97F4A7C15ULL >> (64 - bits_);
        while (counts_[slot] != 0 && keys_[slot] != value) slot = (slot + 1) & mask;
        keys_[slot] = value;
        ++counts_[slot];
        return static_cast<std::uint32_t>(slot);
    }

    std::uint8_t at(std::uint32_t slot) const { return frequency_of(counts_[slot]); }

  private:
    int bits_ = 4;
    std::vector<std::uint64_t> keys_;
    std::vector<std::uint32_t> counts_;
};

std::uint64_t value_at(const std::uint8_t* bytes, int width) {
    std::uint64_t value = 0;
    for (int byte = 0; byte < width; ++byte) value |= std::uint64_t{bytes[byte]} << (8 * byte);
    return value;
}

}  // namespace

std::uint8_t frequency_of(std::uint32_t documents) {
    constexpr std::uint32_t kExact = 128;
    if (documents < kExact) return static_cast<std::uint8_t>(documents);
    const auto power = static_cast<std::uint32_t>(std::bit_width(documents)) - 8;
    const std::uint32_t eighth = documents >> (power + 4) & 7;
    return static_cast<std::uint8_t>(std::min(255U, kExact + 8 * power + eighth));
}

void answer_frequencies(const std::vector<AskedFeatures>& asked, std::size_t buckets, int width) {
    Table table;
    std::vector<std::uint32_t> slots;
    std::vector<std::size_t> begins(asked.size(), 0);
    for (std::size_t bucket = 0; bucket < buckets; ++bucket) {
        std::size_t total = 0, at = 0;
        for (const auto& one : asked) total += one.sizes[bucket];
        table.begin(total);
        slots.resize(std::max(slots.size(), total));
        for (std::size_t i = 0; i < asked.size(); ++i) {
            const std::uint8_t* value =
                asked[i].values + begins[i] * static_cast<std::size_t>(width);
            for (std::uint32_t left = asked[i].sizes[bucket]; left != 0; --left, value += width)
                slots[at++] = table.count(value_at(value, width));
        }
        at = 0;
        for (std::size_t i = 0; i < asked.size(); ++i)
            for (std::uint32_t left = asked[i].sizes[bucket]; left != 0; --left)
                asked[i].answers[begins[i]++] = table.at(slots[at++]);
    }
}

}  // namespace neardup
