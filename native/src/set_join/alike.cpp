#include "neardup/set_join/alike.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <tuple>

#include "neardup/set_join/join.hpp"

namespace neardup {

namespace {

struct Sorted {
    std::uint64_t value;
    double size;
    std::int64_t document;
    std::uint32_t posting;
};

// Numbers of documents in the order in which they are met.
class Numbers {
  public:
    explicit Numbers(std::size_t documents) { grow(documents); }

    std::int64_t of(const Sorted& one) {
        std::size_t slot = slot_of(one.document);
        while (table_[slot] != kFree && documents[table_[slot]] != one.document)
            slot = (slot + 1) & (table_.size() - 1);
        if (table_[slot] == kFree) {
            if (2 * documents.size() >= table_.size()) {
                grow(2 * documents.size());
                return of(one);
            }
            table_[slot] = static_cast<std::uint32_t>(documents.size());
            documents.push_back(one.document);
            postings.push_back(one.posting);
        }
        return table_[slot];
    }

    std::vector<std::int64_t> documents, postings;

  private:
    static constexpr std::uint32_t kFree = 0xFFFFFFFF;

    std::size_t slot_of(std::int64_t document) const {
        return static_cast<std::uint64_t>(document) * 0x9E3779B97F4A7C15ULL >>
               (65 - std::bit_width(table_.size()));
    }

    void grow(std::size_t wanted) {
        table_.assign(std::bit_ceil(std::max<std::size_t>(1024, 2 * wanted)), kFree);
        for (std::size_t number = 0; number < documents.size(); ++number) {
            std::size_t slot = slot_of(documents[number]);
            while (table_[slot] != kFree) slot = (slot + 1) & (table_.size() - 1);
            table_[slot] = static_cast<std::uint32_t>(number);
        }
    }

    std::vector<std::uint32_t> table_;
};

// The postings with those of each value together, by size and document.
//
// They are first divided into small parts by their values, each of which is sorted in the cache.
std::vector<Sorted> sorted_postings(const Postings& given) {
    const int bits = std::clamp(static_cast<int>(std::bit_width(given.count)) - 6, 0, 16);
    const auto part_of = [bits](std::uint64_t value) {
        return value * 0x9E3779B97F4A7C15ULL >> 1 >> (63 - bits);
    };
    std::vector<std::size_t> starts((std::size_t{1} << bits) + 1, 0);
    for (std::size_t i = 0; i < given.count; ++i) ++starts[part_of(given.values[i]) + 1];
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    std::vector<Sorted> postings(given.count);
    std::vector<std::size_t> next(starts.begin(), starts.end() - 1);
    for (std::size_t i = 0; i < given.count; ++i)
        postings[next[part_of(given.values[i])]++] = {
            given.values[i], given.sizes[i], given.documents[i], static_cast<std::uint32_t>(i)};
    for (std::size_t part = 0; part + 1 < starts.size(); ++part)
        std::sort(postings.begin() + static_cast<std::ptrdiff_t>(starts[part]),
                  postings.begin() + static_cast<std::ptrdiff_t>(starts[part + 1]),
                  [](const Sorted& a, const Sorted& b) {
                      return std::tie(a.value, a.size, a.document) <
                             std::tie(b.value, b.size, b.document);
                  });
    return postings;
}

}  // namespace

LinkedDocuments link_alike(const Postings& given, double ratio) {
    const std::vector<Sorted> postings = sorted_postings(given);
    Numbers numbers(given.count / 16);
    std::vector<std::int64_t> a, b;
    for (std::size_t i = 0; i + 1 < postings.size(); ++i) {
        const Sorted &one = postings[i], &next = postings[i + 1];
        if (one.value != next.value || one.document == next.document ||
            one.size < ratio * next.size)
            continue;
        a.push_back(numbers.of(one));
        b.push_back(numbers.of(next));
    }
    // By number in the order of documents, the smallest of a component is its first document.
    const std::size_t count = numbers.documents.size();
    std::vector<std::int64_t> order(count), place(count), smallest(count);
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](std::int64_t x, std::int64_t y) {
        return numbers.documents[static_cast<std::size_t>(x)] <
               numbers.documents[static_cast<std::size_t>(y)];
    });
    for (std::size_t i = 0; i < count; ++i)
        place[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
    for (auto& one : a) one = place[static_cast<std::size_t>(one)];
    for (auto& one : b) one = place[static_cast<std::size_t>(one)];
    components(count, {a.data(), b.data(), a.size()}, smallest.data());
    LinkedDocuments found;
    found.links = a.size();
    for (std::size_t i = 0; i < count; ++i) {
        const auto number = static_cast<std::size_t>(order[i]);
        const auto first = static_cast<std::size_t>(order[static_cast<std::size_t>(smallest[i])]);
        found.documents.push_back(numbers.documents[number]);
        found.firsts.push_back(numbers.documents[first]);
        found.postings.push_back(numbers.postings[number]);
    }
    return found;
}

}  // namespace neardup
