// Compiled once per instruction set; see isa.hpp.
#include "text_passes.hpp"

#if defined(__x86_64__)
#include <x86intrin.h>
#else
#include <chrono>
#endif

#include "neardup/text/feature_sets.hpp"
#include "neardup/text/fingerprint.hpp"
#include "neardup/text/utf8.hpp"
#include "neardup/text/weighted.hpp"

namespace neardup::NEARDUP_ISA {

namespace {

std::uint64_t ticks() {
#if defined(__x86_64__)
    return __rdtsc();
#else
    return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

// Adds the time since it was made, or since the last call, to a pass.
class Watch {
  public:
    void stop(std::uint64_t& pass) {
        const std::uint64_t now = ticks();
        pass += now - before_;
        before_ = ticks();
    }

  private:
    std::uint64_t before_ = ticks();
};

// One document after the other through each pass alone, whole.
void run_passes(const Column& column, const Recipe& recipe, TextPasses& passes) {
    const PlainHash hash;
    Tokenizer tokens;
    CharacterValues<PlainHash> characters(hash);
    DistinctSet set;
    BitCounter counter;
    Buffer<std::uint64_t> values, features;
    for (std::size_t i = 0; i < column.count; ++i) {
        const std::uint8_t* text = column.data + column.offsets[i];
        const auto size = static_cast<std::size_t>(column.offsets[i + 1] - column.offsets[i]);
        Watch watch;
        tokens.run(text, size);
        watch.stop(passes.tokenize);
        characters.restart();
        std::uint64_t* unit = values.reserve(2 * size + 64);
        const std::size_t units =
            recipe.shingle.words ? word_values(hash, tokens, unit)
                                 : characters.run(tokens.lowered(), tokens.lowered_size(), unit);
        watch.stop(passes.units);
        if (units < recipe.shingle.size) continue;
        std::uint64_t* feature = features.reserve(units + 64);
        std::size_t count = hash.windows(unit, units, recipe.shingle.size, feature);
        watch.stop(passes.shingle);
        if (recipe.distinct) count = set.run(feature, count);
        watch.stop(passes.distinct);
        for (std::size_t place = 0; place < recipe.row_limbs(); ++place) {
            counter.restart();
            if (place == 0) {
                counter.add(feature, count);
            } else {
                hash.widen_all(feature, count, place, unit);
                counter.add(unit, count);
            }
            passes.seen ^= counter.at_least(count / 2 + 1);
        }
        watch.stop(passes.majority);
    }
}

// The sums of counted features, as for tf-idf; the counts stand for the weights.
void run_weighted(const Column& column, const Recipe& recipe, TextPasses& passes) {
    FeatureSets<PlainHash> sets(PlainHash{});
    WeightedSums<PlainHash> sums(TermRecipe{recipe.bits, recipe.ties_up, nullptr}, PlainHash{});
    Buffer<double> weights;
    Buffer<std::uint64_t> row;
    row.reserve(recipe.row_limbs());
    for (std::size_t i = 0; i < column.count; ++i) {
        sets.run({&recipe.shingle, 1}, column.data + column.offsets[i],
                 static_cast<std::size_t>(column.offsets[i + 1] - column.offsets[i]));
        double* weight = weights.reserve(sets.size());
        for (std::size_t k = 0; k < sets.size(); ++k) weight[k] = sets.counts()[k];
        const std::int64_t offsets[] = {0, static_cast<std::int64_t>(sets.size())};
        Watch watch;
        sums.run(FeatureColumn{offsets, 1, sets.hashes(), weight}, 0, row.data(), nullptr);
        watch.stop(passes.weigh);
        passes.seen += row.data()[0];
    }
}

}  // namespace

TextPasses text_passes(const Column& column, const Recipe& recipe) {
    TextPasses passes{};
    run_passes(column, recipe, passes);
    run_weighted(column, recipe, passes);
    Fingerprinter<PlainHash> fingerprinter(recipe, PlainHash{});
    FeatureSets<PlainHash> sets(PlainHash{});
    Buffer<std::uint64_t> row;
    row.reserve(recipe.row_limbs());
    const auto each = [&](std::uint64_t& pass, const auto& work) {
        Watch watch;
        for (std::size_t i = 0; i < column.count; ++i)
            work(column.data + column.offsets[i],
                 static_cast<std::size_t>(column.offsets[i + 1] - column.offsets[i]));
        watch.stop(pass);
    };
    each(passes.fingerprint, [&](const std::uint8_t* text, std::size_t size) {
        fingerprinter.run(text, size, row.data());
        passes.seen += row.data()[0];
    });
    each(passes.sorted_set, [&](const std::uint8_t* text, std::size_t size) {
        sets.run({&recipe.shingle, 1}, text, size);
    });
    each(passes.utf8,
         [&](const std::uint8_t* text, std::size_t size) { passes.seen += is_utf8(text, size); });
    return passes;
}

}  // namespace neardup::NEARDUP_ISA
