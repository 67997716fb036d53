// Groups of documents with equal rows: each row once, and the numbers that have it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "neardup/index_tables/blocks.hpp"
#include "neardup/index_tables/numbers.hpp"
#include "neardup/index_tables/row_index.hpp"

namespace neardup {

// There are fewer than 2^31 documents at a time; callers must ensure that.
class Groups {
  public:
    explicit Groups(std::size_t limbs) : limbs_(limbs), rows_(limbs) {}

    struct Joined {
        std::uint32_t group;
        bool is_new;
    };
    // Add a document to the group of its row; `hash` is the hash of the row.
    Joined join(std::uint64_t number, const std::uint64_t* row, std::uint64_t hash);

    // The group of a row, or kNoGroup.
    std::uint32_t find(const std::uint64_t* row, std::uint64_t hash) const;

    // Remove a document from a group; false if it is not in it.
    bool leave(std::uint32_t group, std::uint64_t number);

    bool is_empty(std::uint32_t group) const { return *members_.at(group) == kEmpty; }
    // Drop an empty group; its number will be reused.
    void drop(std::uint32_t group);

    const std::uint64_t* row(std::uint32_t group) const { return rows_.at(group); }
    std::uint64_t hash(const std::uint64_t* row) const { return index_.hash(row, limbs_); }

    void prefetch_index(std::uint64_t hash) const { index_.prefetch(hash); }
    void prefetch_row(std::uint32_t group) const {
        __builtin_prefetch(rows_.at(group));
        __builtin_prefetch(members_.at(group));
    }

    // Pass the lowest `most` numbers of a group to `take`, ascending.
    template <typename Take>
    void each_member(std::uint32_t group, std::size_t most, const Take& take) const {
        const std::uint32_t member = *members_.at(group);
        if (member & kMany)
            many_[member & ~kMany].each(most, take);
        else if (most != 0)
            take(std::uint64_t{member});
    }

    // Pass every group to `take`.
    template <typename Take>
    void each(const Take& take) const {
        for (std::uint32_t group = 0; group < made_; ++group)
            if (!is_empty(group)) take(group);
    }

    // Whether a group of this number exists or existed, so that it has a row.
    bool was_made(std::uint32_t group) const { return group < made_; }
    std::size_t count() const { return made_ - free_.size(); }
    std::size_t bytes() const;

  private:
    // A group's members in four bytes: one number, or `kMany` and a place in `many_` for several
    // numbers or a high one, or kEmpty. Nearly every group has one document, and most numbers are
    // low.
    static constexpr std::uint32_t kMany = std::uint32_t{1} << 31;
    static constexpr std::uint32_t kEmpty = ~std::uint32_t{0};

    std::uint32_t make(const std::uint64_t* row);
    void add_member(std::uint32_t& members, std::uint64_t number);
    std::uint32_t free_place();
    void grow_index();

    std::size_t limbs_;
    Blocks<std::uint64_t> rows_;
    Blocks<std::uint32_t> members_;
    RowIndex index_;
    std::vector<SortedNumbers> many_;
    std::vector<std::uint32_t> free_, free_many_;
    std::uint32_t made_ = 0;
};

}  // namespace neardup
