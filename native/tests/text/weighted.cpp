#include <string>
#include <vector>

#include "check.hpp"
#include "neardup/dispatch.hpp"
#include "neardup/text/kernels.hpp"

namespace neardup::tests {

namespace {

struct Documents {
    std::vector<std::int64_t> offsets{0};
    std::vector<std::int32_t> terms;
    std::vector<double> weights;
    std::vector<std::uint64_t> digests;

    TermColumn column() const {
        return {offsets.data(), offsets.size() - 1, terms.data(), weights.data(), digests.data()};
    }
};

// Whole weights, so that sums of doubles are exact and can be compared.
Documents random_documents(Random& random, std::size_t row_limbs) {
    Documents documents;
    const std::size_t vocabulary = 1 + below(random, 50);
    for (std::size_t i = 0; i < vocabulary * row_limbs; ++i) documents.digests.push_back(random());
    for (std::size_t document = below(random, 20); document != 0; --document) {
        for (std::size_t i = below(random, 30); i != 0; --i) {
            documents.terms.push_back(static_cast<std::int32_t>(below(random, vocabulary)));
            documents.weights.push_back(static_cast<double>(below(random, 9)) - 4);
        }
        documents.offsets.push_back(static_cast<std::int64_t>(documents.terms.size()));
    }
    return documents;
}

double naive_sum(const Documents& documents, std::size_t document, std::size_t bit,
                 std::size_t row_limbs) {
    double sum = 0;
    for (auto i = static_cast<std::size_t>(documents.offsets[document]);
         i < static_cast<std::size_t>(documents.offsets[document + 1]); ++i) {
        const auto row = static_cast<std::size_t>(documents.terms[i]) * row_limbs;
        const bool set = documents.digests[row + bit / 64] >> (63 - bit % 64) & 1;
        sum += set ? documents.weights[i] : -documents.weights[i];
    }
    return sum;
}

void check_sums(Random& random, std::uint32_t bits, bool ties_up, long seed) {
    const TermRecipe recipe{bits, ties_up};
    const Documents documents = random_documents(random, recipe.row_limbs());
    const TermColumn column = documents.column();
    for (const std::string& isa : available_isas()) {
        std::vector<std::uint64_t> rows(column.count * recipe.row_limbs());
        std::vector<double> sums(column.count * bits);
        weigh_column(column, recipe, {rows.data(), sums.data()}, 2, text_kernels_for(isa));
        bool same = true;
        for (std::size_t document = 0; document < column.count; ++document) {
            const bool empty = column.offsets[document] == column.offsets[document + 1];
            for (std::size_t bit = 0; bit < 64 * recipe.row_limbs(); ++bit) {
                const std::uint64_t word = rows[document * recipe.row_limbs() + bit / 64];
                const bool set = word >> (63 - bit % 64) & 1;
                if (bit >= bits || empty) {
                    same = same && !set;
                    continue;
                }
                const double sum = naive_sum(documents, document, bit, recipe.row_limbs());
                same = same && sums[document * bits + bit] == sum;
                same = same && set == (sum > 0 || (ties_up && sum == 0));
            }
        }
        CHECK_CASE(same, seed);
    }
}

}  // namespace

void test_weighted() {
    for (long seed = 0; seed < rounds(60); ++seed) {
        Random random(static_cast<std::uint64_t>(seed));
        for (const std::uint32_t bits : {1U, 42U, 64U, 65U, 128U})
            check_sums(random, bits, seed % 2 == 0, seed);
    }
}

}  // namespace neardup::tests
