// Texts of arbitrary bytes: every instruction set makes the same features and fingerprints, and
// the fingerprint is the majority of the features.
//
// Settings first, then the text, cut into some documents and perhaps repeated.
#include <string>
#include <string_view>
#include <vector>

#include "harness.hpp"
#include "neardup/dispatch.hpp"
#include "neardup/index_tables/id_set.hpp"
#include "neardup/passages/cut.hpp"
#include "neardup/text/feature_counts.hpp"
#include "neardup/text/kernels.hpp"

namespace neardup::fuzz {

namespace {

constexpr std::size_t kMostText = 40'000;

struct Made {
    std::vector<std::uint64_t> bits;
    std::vector<std::uint32_t> words;
    bool operator==(const Made&) const = default;
};

bool equal(const FeatureTable& x, const FeatureTable& y) {
    return x.offsets == y.offsets && x.hashes == y.hashes && x.counts == y.counts &&
           x.words == y.words;
}

// Well-formed by the definition (Unicode 15, table 3-7), code point by code point.
bool well_formed(const std::uint8_t* at, std::size_t left) {
    while (left != 0) {
        const std::uint8_t lead = *at;
        const std::size_t length = lead < 0x80   ? 1
                                   : lead < 0xC2 ? 0
                                   : lead < 0xE0 ? 2
                                   : lead < 0xF0 ? 3
                                   : lead < 0xF5 ? 4
                                                 : 0;
        if (length == 0 || length > left) return false;
        std::uint32_t code = length == 1 ? lead : lead & (0xFFU >> (length + 1));
        for (std::size_t i = 1; i < length; ++i) {
            if ((at[i] & 0xC0) != 0x80) return false;
            code = code << 6 | (at[i] & 0x3F);
        }
        constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
        if (code < least[length] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000))
            return false;
        at += length;
        left -= length;
    }
    return true;
}

// One document's row, a bit at a time.
void require_majority(const FeatureTable& features, std::size_t document, const Recipe& recipe,
                      std::uint64_t row) {
    const auto first = static_cast<std::size_t>(features.offsets[document]),
               last = static_cast<std::size_t>(features.offsets[document + 1]);
    for (std::uint32_t bit = 0; bit < recipe.bits; ++bit) {
        std::int64_t sum = 0;
        for (std::size_t i = first; i < last; ++i) {
            const std::int64_t weight = recipe.distinct ? 1 : features.counts[i];
            sum += (features.hashes[i] >> (63 - bit) & 1) != 0 ? weight : -weight;
        }
        const bool set = first != last && (sum > 0 || (sum == 0 && recipe.ties_up));
        REQUIRE((row >> (63 - bit) & 1) == (set ? 1U : 0U));
    }
    if (recipe.bits < 64) REQUIRE(row << recipe.bits == 0);
}

void require_counted(const FeatureTable& features) {
    FeatureCounts counts(std::size_t{1} << 20);
    counts.add(features.hashes.data(), features.hashes.size());
    std::vector<std::uint32_t> found(features.hashes.size());
    counts.look_up(features.hashes.data(), features.hashes.size(), found.data());
    std::uint64_t total = 0;
    for (const std::uint32_t count : counts.items(1).counts) total += count;
    REQUIRE(total == features.hashes.size());
    REQUIRE(std::find(found.begin(), found.end(), 0U) == found.end());
}

void require_ids(const Column& column) {
    std::vector<std::int64_t> places(column.count);
    for (std::size_t i = 0; i < column.count; ++i) places[i] = static_cast<std::int64_t>(i);
    const auto text = [&](std::size_t i) {
        return std::string_view(
            reinterpret_cast<const char*>(column.data) + column.offsets[i],
            static_cast<std::size_t>(column.offsets[i + 1] - column.offsets[i]));
    };
    const auto repeat = IdSet().add(column, places.data());
    for (std::size_t i = 0; i < (repeat ? repeat->position : column.count); ++i)
        for (std::size_t j = 0; j < i; ++j) REQUIRE(text(i) != text(j));
    if (repeat) REQUIRE(text(repeat->position) == text(static_cast<std::size_t>(repeat->place)));
}

// Passages cover every text without gaps, and all instruction sets make the same keys of them.
void require_passages(const Column& column) {
    for (const PassageUnit unit :
         {PassageUnit::line, PassageUnit::paragraph, PassageUnit::sentence}) {
        Passages found = cut_passages(column, unit, 1);
        for (std::size_t i = 0; i < column.count; ++i) {
            const bool empty = column.offsets[i] == column.offsets[i + 1];
            REQUIRE((found.documents[i] == found.documents[i + 1]) == empty);
            if (!empty) {
                const auto first = static_cast<std::size_t>(found.documents[i]);
                REQUIRE(found.begins[first] == column.offsets[i]);
            }
        }
        found.begins.push_back(column.offsets[column.count]);
        for (std::size_t i = 1; i < found.begins.size(); ++i)
            REQUIRE(found.begins[i - 1] < found.begins[i]);
        const std::size_t count = found.begins.size() - 1;
        const Column passages{column.data, found.begins.data(), count};
        std::vector<std::uint32_t> words(count), others(count);
        std::vector<std::uint64_t> keys(2 * count), same(2 * count);
        word_keys(passages, words.data(), keys.data(), 1, text_kernels_for("portable"));
        for (const std::string& isa : other_isas()) {
            word_keys(passages, others.data(), same.data(), 1, text_kernels_for(isa));
            REQUIRE(words == others && keys == same);
        }
    }
}

}  // namespace

void fuzz_text(const std::uint8_t* data, std::size_t size) {
    constexpr std::size_t sizes[] = {1, 2, 3, 5, 9, 300, std::size_t{1} << 31};
    constexpr std::uint32_t widths[] = {64, 1, 42, 63, 65, 128, 513};
    constexpr std::size_t repeats[] = {1, 1, 1, 1, 7, 100};
    Tape tape(data, size);
    const std::uint8_t flags = tape.byte();
    const Recipe recipe{{(flags & 1) != 0, sizes[tape.below(std::size(sizes))]},
                        (flags & 2) != 0,
                        widths[tape.below(std::size(widths))],
                        (flags & 4) != 0};
    const std::size_t parts = 1 + tape.below(5), repeated = repeats[tape.below(std::size(repeats))];
    const std::string piece(reinterpret_cast<const char*>(tape.rest()), tape.size());
    std::string text = piece;
    for (std::size_t i = 1; i < repeated && text.size() < kMostText; ++i) text += piece;
    std::vector<std::int64_t> offsets;
    for (std::size_t i = 0; i <= parts; ++i)
        offsets.push_back(static_cast<std::int64_t>(text.size() * i / parts));
    const auto memory = tight(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
    const Column column{memory.get(), offsets.data(), parts};
    const Shingle both[] = {recipe.shingle, {!recipe.shingle.words, 2}};

    bool sound = true;
    for (std::size_t i = 0; i < parts; ++i)
        sound &= well_formed(memory.get() + offsets[i],
                             static_cast<std::size_t>(offsets[i + 1] - offsets[i]));
    const auto make = [&](const TextKernels& kernels, std::size_t threads) {
        Made made{std::vector<std::uint64_t>(parts * recipe.row_limbs()),
                  std::vector<std::uint32_t>(parts)};
        fingerprint_column(column, recipe, {made.bits.data(), made.words.data()}, threads, kernels);
        return made;
    };
    const TextKernels& portable = text_kernels_for("portable");
    const FeatureTable features = features_of(column, {both, 1}, true, 1, portable);
    const FeatureTable together = features_of(column, {both, 2}, true, 1, portable);
    const Made made = make(portable, 1);
    REQUIRE(made.words == features.words);
    const bool whole = well_formed(memory.get(), text.size());
    for (const std::string& isa : available_isas()) {
        REQUIRE(text_kernels_for(isa).is_utf8(memory.get(), text.size()) == whole);
        REQUIRE(is_utf8_column(column, text_kernels_for(isa)) == sound);
    }
    for (const std::string& isa : other_isas()) {
        const TextKernels& kernels = text_kernels_for(isa);
        REQUIRE(make(kernels, 1) == made);
        REQUIRE(equal(features_of(column, {both, 1}, true, 1, kernels), features));
        REQUIRE(equal(features_of(column, {both, 2}, true, 1, kernels), together));
    }
    if (recipe.bits <= 64)
        for (std::size_t i = 0; i < parts; ++i) require_majority(features, i, recipe, made.bits[i]);
    require_counted(features);
    require_ids(column);
    require_passages(column);
}

}  // namespace neardup::fuzz
