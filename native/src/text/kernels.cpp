// Compiled once per instruction set; see isa.hpp.
#include "neardup/text/kernels.hpp"
#include "neardup/text/feature_order.hpp"
#include "neardup/text/feature_sets.hpp"
#include "neardup/text/fingerprint.hpp"
#include "neardup/text/key_chains.hpp"
#include "neardup/text/keyed.hpp"
#include "neardup/text/utf8.hpp"
#include "neardup/text/weighted.hpp"

namespace neardup::NEARDUP_ISA {

// Call `work` with the hash of a key; without a key, plain nd1.
template <typename Work>
static void with_hash(const HashKey* key, const Work& work) {
    if (key == nullptr) {
        work(PlainHash{});
    } else {
        work(KeyedHash(*key));
    }
}

template <typename Hash>
static void fingerprint_hashed(const Column& column, const Recipe& recipe, const Rows& rows,
                               const NextRange& next, const Hash& hash) {
    Fingerprinter<Hash> fingerprinter(recipe, hash);
    const std::size_t row_limbs = recipe.row_limbs();
    for (Range range = next(); range.first != range.last; range = next()) {
        for (std::size_t i = range.first; i < range.last; ++i) {
            const auto size = static_cast<std::size_t>(column.offsets[i + 1] - column.offsets[i]);
            rows.words[i] =
                fingerprinter.run(column.data + column.offsets[i], size, rows.bits + i * row_limbs);
        }
    }
}

static void fingerprint_ranges(const Column& column, const Recipe& recipe, const Rows& rows,
                               const NextRange& next) {
    with_hash(recipe.key,
              [&](const auto& hash) { fingerprint_hashed(column, recipe, rows, next, hash); });
}

template <typename Documents, typename Hash>
static void weigh_hashed(const Documents& column, const TermRecipe& recipe, const TermRows& rows,
                         const NextRange& next, const Hash& hash) {
    WeightedSums<Hash> weighted(recipe, hash);
    for (Range range = next(); range.first != range.last; range = next())
        for (std::size_t i = range.first; i < range.last; ++i)
            weighted.run(column, i, rows.bits + i * recipe.row_limbs(),
                         rows.sums == nullptr ? nullptr : rows.sums + i * recipe.bits);
}

// Terms come with their digests, so nothing is hashed here.
static void weigh_term_ranges(const TermColumn& column, const TermRecipe& recipe,
                              const TermRows& rows, const NextRange& next) {
    weigh_hashed(column, recipe, rows, next, PlainHash{});
}

static void weigh_feature_ranges(const FeatureColumn& column, const TermRecipe& recipe,
                                 const TermRows& rows, const NextRange& next) {
    with_hash(recipe.key,
              [&](const auto& hash) { weigh_hashed(column, recipe, rows, next, hash); });
}

template <typename Hash>
static void find_hashed(const Column& column, const ShingleList& shingles, FeatureTaker& taker,
                        const NextRange& next, const Hash& hash) {
    FeatureSets<Hash> sets(hash);
    for (Range range = next(); range.first != range.last; range = next()) {
        for (std::size_t i = range.first; i < range.last; ++i) {
            const auto size = static_cast<std::size_t>(column.offsets[i + 1] - column.offsets[i]);
            const std::size_t words = sets.run(shingles, column.data + column.offsets[i], size);
            taker.take(i, words, sets.hashes(), sets.counts(), sets.size());
            sets.release_if_above(kKeepRoom);
        }
    }
}

static void feature_ranges(const Column& column, const ShingleList& shingles, FeatureTaker& taker,
                           const NextRange& next) {
    with_hash(shingles.key,
              [&](const auto& hash) { find_hashed(column, shingles, taker, next, hash); });
}

static void order_ranges(const FeatureColumn& column, const OrderedFeatures& ordered,
                         const NextRange& next) {
    FeatureOrder order;
    for (Range range = next(); range.first != range.last; range = next()) {
        for (std::size_t i = range.first; i < range.last; ++i) {
            const std::int64_t begin = column.offsets[i], to = begin - column.offsets[0];
            ordered.offsets[i + 1] = static_cast<std::int64_t>(
                order.run(column.hashes + begin, column.weights + begin,
                          static_cast<std::size_t>(column.offsets[i + 1] - begin),
                          ordered.hashes + to, ordered.weights + to));
        }
    }
}

// Receives the features of a text in a vector.
struct Appended {
    std::vector<std::uint64_t>& to;
    std::size_t used = 0;

    std::uint64_t* room(std::size_t count) {
        to.resize(used + count);
        return to.data() + used;
    }
    void take(std::size_t count) { used += count; }
};

static void word_hashes(const std::uint8_t* text, std::size_t size,
                        std::vector<std::uint64_t>& hashes) {
    FeatureStream<PlainHash> stream({});
    Appended appended{hashes};
    stream.run({.words = true, .size = 1}, text, size, appended);
    hashes.resize(appended.used);
}

// Receives the features of a text in memory that is used again for the next one.
struct Held {
    Buffer<std::uint64_t> values;
    std::size_t used = 0;

    std::uint64_t* room(std::size_t count) { return values.reserve(used + count) + used; }
    void take(std::size_t count) { used += count; }
};

static void key_ranges(const Column& column, std::uint32_t* words, std::uint64_t* keys,
                       const NextRange& next) {
    FeatureStream<PlainHash> stream({});
    Held held;
    for (Range range = next(); range.first != range.last; range = next()) {
        for (std::size_t i = range.first; i < range.last; ++i) {
            const auto size = static_cast<std::size_t>(column.offsets[i + 1] - column.offsets[i]);
            held.used = 0;
            words[i] = static_cast<std::uint32_t>(stream.run(
                {.words = true, .size = 1}, column.data + column.offsets[i], size, held));
            KeyChains chains(held.used);
            chains.add_all(held.values.data(), held.used);
            chains.write(keys + 2 * i);
        }
    }
}

static void word_ranges(const Column& column, WordTaker& taker, const NextRange& next) {
    FeatureStream<PlainHash> stream({});
    Held held;
    for (Range range = next(); range.first != range.last; range = next()) {
        for (std::size_t i = range.first; i < range.last; ++i) {
            const auto size = static_cast<std::size_t>(column.offsets[i + 1] - column.offsets[i]);
            held.used = 0;
            stream.run({.words = true, .size = 1}, column.data + column.offsets[i], size, held);
            taker.take(i, held.values.data(), held.used);
        }
    }
}

const TextKernels text_kernels = {fingerprint_ranges, weigh_term_ranges, weigh_feature_ranges,
                                  feature_ranges,     order_ranges,      is_utf8,
                                  key_ranges,         word_hashes,       word_ranges};

}  // namespace neardup::NEARDUP_ISA
