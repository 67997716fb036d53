#include "neardup/spans/shared_runs.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "check.hpp"
#include "neardup/dispatch.hpp"
#include "neardup/text/kernels.hpp"

namespace neardup::tests {

namespace {

using Words = std::vector<std::uint64_t>;

// Try every run of the first document, the longest from each word.
std::vector<SharedRun> slowly(const Words& first, const Words& second, std::uint32_t least) {
    std::vector<SharedRun> found;
    std::size_t reached = 0;
    for (std::size_t a = 0; a < first.size(); ++a) {
        SharedRun best{static_cast<std::uint32_t>(a), 0, 0};
        for (std::size_t b = 0; b < second.size(); ++b) {
            std::uint32_t length = 0;
            while (a + length < first.size() && b + length < second.size() &&
                   first[a + length] == second[b + length])
                ++length;
            if (length > best.length)
                best = {static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b), length};
        }
        if (a + best.length > reached && best.length >= least && best.length != 0)
            found.push_back(best);
        reached = std::max(reached, a + best.length);
    }
    return found;
}

std::vector<SharedRun> quickly(const Words& first, const Words& second, std::uint32_t least) {
    return shared_runs({first.data(), first.size()}, {second.data(), second.size()}, least);
}

}  // namespace

void test_spans() {
    Random random(7);
    for (long round = 0; round < rounds(2000); ++round) {
        const std::size_t kinds = 1 + below(random, 6);
        Words first(below(random, 40)), second(below(random, 40));
        for (auto* words : {&first, &second})
            for (auto& word : *words) word = below(random, kinds) * 0x9E3779B97F4A7C15ULL;
        for (const std::uint32_t least : {0, 1, 3, 8})
            CHECK_CASE(quickly(first, second, least) == slowly(first, second, least), round);
    }
    // One word again and again is no slower than others.
    const Words same(200'000, 5);
    CHECK((quickly(same, same, 8) == std::vector<SharedRun>{{0, 0, 200'000}}));
    for (const auto& isa : available_isas()) {
        std::vector<std::uint64_t> hashes;
        const std::string text = "To be,\nor not TO BE";
        text_kernels_for(isa).word_hashes(reinterpret_cast<const std::uint8_t*>(text.data()),
                                          text.size(), hashes);
        CHECK(hashes.size() == 6 && hashes[0] == hashes[4] && hashes[1] == hashes[5]);
        CHECK(hashes[0] != hashes[1] && hashes[2] != hashes[3]);
    }
}

}  // namespace neardup::tests
