#include "neardup/hamming_join/pairs.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace neardup {

namespace {

constexpr std::size_t kFew = 4096;

// One pass of a radix sort over a byte of `places`; nothing where all have the same.
void sort_by_byte(std::vector<FoundPair>& pairs, std::vector<FoundPair>& other, unsigned byte) {
    std::array<std::size_t, 256> next{};
    const auto digit = [&](const FoundPair& pair) { return pair.places >> (8 * byte) & 255; };
    for (const FoundPair& pair : pairs) ++next[digit(pair)];
    if (next[digit(pairs[0])] == pairs.size()) return;
    std::size_t sum = 0;
    for (std::size_t& start : next) start = std::exchange(sum, sum + start);
    other.resize(pairs.size(), FoundPair(0, 0, 0));
    for (const FoundPair& pair : pairs) other[next[digit(pair)]++] = pair;
    pairs.swap(other);
}

}  // namespace

void sort_pairs(std::vector<FoundPair>& pairs) {
    if (pairs.size() < kFew) {
        std::sort(pairs.begin(), pairs.end(),
                  [](const FoundPair& x, const FoundPair& y) { return x.places < y.places; });
        return;
    }
    std::vector<FoundPair> other;
    for (unsigned byte = 0; byte < 8; ++byte) sort_by_byte(pairs, other, byte);
}

std::vector<FoundPair> gather_pairs(std::vector<std::vector<FoundPair>>& parts) {
    if (parts.size() == 1) return std::move(parts[0]);
    std::size_t total = 0;
    for (const auto& part : parts) total += part.size();
    std::vector<FoundPair> all;
    all.reserve(total);
    for (auto& part : parts) {
        all.insert(all.end(), part.begin(), part.end());
        std::vector<FoundPair>().swap(part);
    }
    return all;
}

}  // namespace neardup
