#include "neardup/index_tables/id_set.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "check.hpp"

namespace neardup::tests {

namespace {

std::string drawn_id(Random& random) {
    const std::size_t kind = below(random, 3);
    if (kind == 0) return std::to_string(below(random, 5000));
    if (kind == 1) return std::string(below(random, 100), "ab\0"[below(random, 3)]);
    std::string id(below(random, 40), '\0');
    for (char& byte : id) byte = static_cast<char>(random() % 2);
    return id;
}

// Add ids in columns of several, as a reader does, and a map at the same time.
void check_against_map(std::uint64_t seed) {
    Random random(seed);
    IdSet set;
    std::map<std::string, std::int64_t> known;
    for (std::int64_t place = 1'000'000; place < 1'004'000;) {
        std::vector<std::string> ids;
        std::vector<std::int64_t> offsets{0}, places;
        for (std::size_t i = 1 + below(random, 20); i != 0; --i) {
            ids.push_back(drawn_id(random));
            offsets.push_back(offsets.back() + static_cast<std::int64_t>(ids.back().size()));
            places.push_back(place++);
        }
        const std::unique_ptr<std::uint8_t[]> data(
            new std::uint8_t[static_cast<std::size_t>(offsets.back())]);
        for (std::size_t i = 0; i < ids.size(); ++i)
            for (std::size_t j = 0; j < ids[i].size(); ++j)
                data[static_cast<std::size_t>(offsets[i]) + j] =
                    static_cast<std::uint8_t>(ids[i][j]);

        std::size_t position = 0;
        while (position < ids.size() && known.emplace(ids[position], places[position]).second)
            ++position;
        const auto repeat = set.add({data.get(), offsets.data(), ids.size()}, places.data());
        CHECK_CASE(repeat.has_value() == (position < ids.size()), seed);
        if (repeat && position < ids.size()) {
            CHECK_CASE(repeat->position == position, seed);
            CHECK_CASE(repeat->place == known.at(ids[position]), seed);
        }
        CHECK_CASE(set.size() == known.size(), seed);
    }
}

}  // namespace

void test_id_set() {
    for (std::uint64_t seed = 0; seed < 8; ++seed) check_against_map(seed);
}

}  // namespace neardup::tests
