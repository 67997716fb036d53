#include "neardup/set_join/first_features.hpp"

#include <array>
#include <bit>

namespace neardup {

namespace {

// Sums of weights are rounded. A feature too many costs little, one too few a pair.
constexpr double kSlack = 1e-7;

// The weight of the features of one document by their frequency.
class Weights {
  public:
    void add(std::uint8_t frequency, double weight) {
        used_[frequency / 64] |= std::uint64_t{1} << frequency % 64;
        of_[frequency] += weight;
    }

    // From now on the weight of all that is rarer; returns the weight of what others have, too.
    double before_each() {
        double before = 0, shared = 0;
        each_used([&](std::size_t frequency) {
            const double weight = of_[frequency];
            of_[frequency] = before;
            before += weight;
            if (frequency > 1) shared += weight;
        });
        return shared;
    }

    // The weight before a feature, which counts from now on.
    double pass(std::uint8_t frequency, double weight) {
        const double before = of_[frequency];
        of_[frequency] += weight;
        return before;
    }

    void clear() {
        each_used([&](std::size_t frequency) { of_[frequency] = 0; });
        used_ = {};
    }

  private:
    template <typename Act>
    void each_used(const Act& act) const {
        for (std::size_t word = 0; word < used_.size(); ++word)
            for (std::uint64_t left = used_[word]; left != 0; left &= left - 1)
                act(64 * word + static_cast<std::size_t>(std::countr_zero(left)));
    }

    std::array<double, 256> of_ = {};
    std::array<std::uint64_t, 4> used_ = {};
};

}  // namespace

FirstFeatures first_features(const FrequentFeatures& documents, double share, bool squared) {
    FirstFeatures found;
    Weights weights;
    const auto weight_of = [&](std::int64_t i) {
        if (documents.weights == nullptr) return 1.0;
        return squared ? documents.weights[i] * documents.weights[i] : documents.weights[i];
    };
    for (std::size_t document = 0; document < documents.count; ++document) {
        const std::int64_t begin = documents.offsets[document],
                           end = documents.offsets[document + 1];
        double total = 0;
        for (std::int64_t i = begin; i < end; ++i) {
            total += weight_of(i);
            weights.add(documents.frequency[i], weight_of(i));
        }
        const double shared = weights.before_each();
        if (shared > 0 && shared >= share * total * (1 - kSlack)) {
            const double most = (1 - share + kSlack) * total;
            for (std::int64_t i = begin; i < end; ++i) {
                const std::uint8_t frequency = documents.frequency[i];
                if (weights.pass(frequency, weight_of(i)) > most || frequency <= 1) continue;
                found.positions.push_back(i);
                found.documents.push_back(static_cast<std::int64_t>(document));
            }
        }
        weights.clear();
    }
    return found;
}

}  // namespace neardup
