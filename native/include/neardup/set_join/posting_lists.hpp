// The inverted index of the star join, which grows document by document.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "neardup/buffer.hpp"
#include "neardup/room.hpp"

namespace neardup {

// A document has a feature in its prefix. `key` is its mass, `most` that of the heaviest document
// that is similar to it and shares no earlier feature; both as keys (star_index.hpp). For a cosine
// of weights, `key` is the length of what begins with the feature.
struct StarPosting {
    std::uint32_t document;
    std::uint16_t key, most;
};

// A list for each slot of a table by hash, sorted by key. Features that share a slot share a list.
class PostingLists {
  public:
    struct List {
        const StarPosting *begin, *end;
        std::size_t size() const { return static_cast<std::size_t>(end - begin); }

        // The postings with keys from `least` to `most`.
        List between(std::uint16_t least, std::uint16_t most) const {
            const auto below = [](const StarPosting& posting, std::uint16_t key) {
                return posting.key < key;
            };
            const auto above = [](std::uint16_t key, const StarPosting& posting) {
                return key < posting.key;
            };
            const StarPosting* first = std::lower_bound(begin, end, least, below);
            return {first, std::max(first, std::upper_bound(first, end, most, above))};
        }
    };

    explicit PostingLists(int bits)
        : shift_(64 - bits), lists_(std::size_t{1} << bits), heads_(head_room_.at_least(lists_)) {
        std::fill_n(heads_, lists_, Head{0, 0});
    }

    List list(std::uint64_t feature) const {
        const Head head = heads_[slot_of(feature)];
        const StarPosting* begin = postings_ + head.at;
        return {begin, begin + head.count};
    }

    // Prefetch where the list of a feature is.
    void prefetch(std::uint64_t feature) const { __builtin_prefetch(&heads_[slot_of(feature)]); }

    // Put a posting at the end of its list, which is sorted no longer.
    void append(std::uint64_t feature, const StarPosting& posting) {
        Head& head = heads_[slot_of(feature)];
        if (head.count == room_for(head.count)) grow(head);
        postings_[head.at + head.count++] = posting;
    }

    void insert(std::uint64_t feature, const StarPosting& posting) {
        Head& head = heads_[slot_of(feature)];
        if (head.count == room_for(head.count)) grow(head);
        StarPosting *begin = postings_ + head.at, *end = begin + head.count;
        const auto after = [](const StarPosting& x, const StarPosting& y) { return x.key < y.key; };
        StarPosting* at = std::upper_bound(begin, end, posting, after);
        std::memmove(at + 1, at, static_cast<std::size_t>(end - at) * sizeof posting);
        *at = posting;
        ++head.count;
    }

    void clear() {
        std::fill_n(heads_, lists_, Head{0, 0});
        for (auto& list : free_) list.clear();
        used_ = 0;
    }

    std::size_t bytes() const { return lists_ * sizeof(Head) + used_ * sizeof(StarPosting); }

  private:
    struct Head {
        std::uint32_t at, count;
    };

    std::size_t slot_of(std::uint64_t feature) const {
        return feature * 0x9E3779B97F4A7C15ULL >> shift_;
    }

    // Lists have room for a power of two.
    static std::uint32_t room_for(std::uint32_t count) {
        return count == 0 ? 0 : std::bit_ceil(count);
    }

    void grow(Head& head) {
        const std::uint32_t room = head.count == 0 ? 1 : 2 * head.count;
        const std::uint32_t at = place_for(room);
        if (head.count != 0) {
            std::memcpy(postings_ + at, postings_ + head.at, head.count * sizeof(StarPosting));
            free_[std::countr_zero(head.count)].push_back(head.at);
        }
        head.at = at;
    }

    std::uint32_t place_for(std::uint32_t room) {
        std::vector<std::uint32_t>& unused = free_[std::countr_zero(room)];
        if (!unused.empty()) {
            const std::uint32_t at = unused.back();
            unused.pop_back();
            return at;
        }
        const auto at = static_cast<std::uint32_t>(used_);
        used_ += room;
        postings_ = room_.reserve(used_);
        return at;
    }

    int shift_;
    std::size_t lists_;
    Room<Head> head_room_;
    Head* heads_;
    std::vector<std::uint32_t> free_[32];  // by the logarithm of their room
    portable::Buffer<StarPosting> room_;
    StarPosting* postings_ = nullptr;
    std::size_t used_ = 0;
};

}  // namespace neardup
