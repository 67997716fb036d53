// Documents of terms with arbitrary finite weights: every instruction set makes the same sums.
#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "harness.hpp"
#include "neardup/text/kernels.hpp"

namespace neardup::fuzz {

namespace {

struct Weighed {
    std::vector<std::uint64_t> bits;
    std::vector<double> sums;

    // Bit by bit: a sum of -0 is not one of 0.
    bool operator==(const Weighed& other) const {
        return bits == other.bits && sums.size() == other.sums.size() &&
               (sums.empty() ||
                std::memcmp(sums.data(), other.sums.data(), sums.size() * sizeof(double)) == 0);
    }
};

}  // namespace

void fuzz_weights(const std::uint8_t* data, std::size_t size) {
    constexpr std::uint32_t widths[] = {64, 1, 63, 65, 128};
    Tape tape(data, size);
    const std::uint8_t flags = tape.byte();
    const TermRecipe recipe{widths[tape.below(std::size(widths))], (flags & 1) != 0};
    const std::size_t documents = 1 + tape.below(4);
    std::vector<std::uint64_t> hashes;
    std::vector<double> weights;
    while (tape.size() != 0) {
        hashes.push_back(tape.word());
        const double weight = std::bit_cast<double>(tape.word());
        // The bindings let finite weights through, and no others.
        weights.push_back(std::isfinite(weight) ? weight : 1.0);
    }
    std::vector<std::int64_t> offsets;
    for (std::size_t i = 0; i <= documents; ++i)
        offsets.push_back(static_cast<std::int64_t>(hashes.size() * i / documents));
    const auto tight_hashes = tight(hashes.data(), hashes.size());
    const auto tight_weights = tight(weights.data(), weights.size());
    const FeatureColumn column{offsets.data(), documents, tight_hashes.get(), tight_weights.get()};
    const auto weigh = [&](const std::string& isa) {
        Weighed weighed{std::vector<std::uint64_t>(documents * recipe.row_limbs()),
                        std::vector<double>(documents * recipe.bits)};
        weigh_features(column, recipe, {weighed.bits.data(), weighed.sums.data()}, 1,
                       text_kernels_for(isa));
        return weighed;
    };
    const Weighed first = weigh("portable");
    for (const std::string& isa : other_isas()) REQUIRE(weigh(isa) == first);
    for (std::size_t i = 0; i < documents; ++i)
        for (std::uint32_t bit = 0; bit < recipe.bits; ++bit) {
            const double sum = first.sums[i * recipe.bits + bit];
            const bool set = (first.bits[i * recipe.row_limbs() + bit / 64] >> (63 - bit % 64) & 1);
            REQUIRE(!std::isnan(sum));
            REQUIRE(set ? sum >= 0 : sum <= 0);
        }
}

}  // namespace neardup::fuzz
