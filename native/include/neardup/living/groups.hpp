// Groups of documents with equal rows: each row once, and the numbers that have it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "blocks.hpp"
#include "row_index.hpp"
#include "sorted_numbers.hpp"

namespace neardup {

// There are fewer than 2^31 documents at a time, which whoever lets them in looks after.
class Groups {
  public:
    explicit Groups(std::size_t words) : words_(words), rows_(words) {}

    struct Joined {
        std::uint32_t group;
        bool is_new;
    };
    // Let a document into the group of its row; `hash` is that of the row.
    Joined join(std::uint64_t number, const std::uint64_t* row, std::uint64_t hash);

    // The group of a row, or kNoGroup.
    std::uint32_t find(const std::uint64_t* row, std::uint64_t hash) const;

    // Take a document out of a group; false if it is not there.
    bool leave(std::uint32_t group, std::uint64_t number);

    bool is_empty(std::uint32_t group) const { return *members_.at(group) == kEmpty; }
    // Forget an empty group; its number is given to another.
    void drop(std::uint32_t group);

    const std::uint64_t* row(std::uint32_t group) const { return rows_.at(group); }
    std::uint64_t hash(const std::uint64_t* row) const { return index_.hash(row, words_); }

    void prefetch_index(std::uint64_t hash) const { index_.prefetch(hash); }
    void prefetch_row(std::uint32_t group) const {
        __builtin_prefetch(rows_.at(group));
        __builtin_prefetch(members_.at(group));
    }

    // Tell of the lowest `most` numbers of a group, ascending.
    template <typename Take>
    void each_member(std::uint32_t group, std::size_t most, const Take& take) const {
        const std::uint32_t member = *members_.at(group);
        if (member & kMany)
            many_[member & ~kMany].each(most, take);
        else if (most != 0)
            take(std::uint64_t{member});
    }

    // Tell of every group.
    template <typename Take>
    void each(const Take& take) const {
        for (std::uint32_t group = 0; group < made_; ++group)
            if (!is_empty(group)) take(group);
    }

    // Whether there is or was a group of this number, so that it has a row.
    bool was_made(std::uint32_t group) const { return group < made_; }
    std::size_t count() const { return made_ - free_.size(); }
    std::size_t bytes() const;

  private:
    // A group's members are one number, or so marked the place of several or of a high one, or
    // none: four bytes, as nearly every group has one document, and numbers are mostly low.
    static constexpr std::uint32_t kMany = std::uint32_t{1} << 31;
    static constexpr std::uint32_t kEmpty = ~std::uint32_t{0};

    std::uint32_t make(const std::uint64_t* row);
    void add_member(std::uint32_t& members, std::uint64_t number);
    std::uint32_t free_place();
    void grow_index();

    std::size_t words_;
    Blocks<std::uint64_t> rows_;
    Blocks<std::uint32_t> members_;
    RowIndex index_;
    std::vector<SortedNumbers> many_;
    std::vector<std::uint32_t> free_, free_many_;
    std::uint32_t made_ = 0;
};

}  // namespace neardup
