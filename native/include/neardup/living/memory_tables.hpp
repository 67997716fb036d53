// Numbered rows in memory that come and go, found by the masks on which they agree with a query.
//
// Any number of threads may ask at a time; one that changes something has the tables for itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <shared_mutex>
#include <vector>

#include "bucket_table.hpp"
#include "groups.hpp"
#include "kernels.hpp"
#include "mask_key.hpp"
#include "number_set.hpp"
#include "search.hpp"

namespace neardup {

class MemoryTables {
  public:
    MemoryTables(const std::uint64_t* masks, std::size_t count, std::size_t words,
                 std::size_t bits, const LivingKernels& kernels);

    // Numbers are below 2^63, and each is there once at most. `places` are told: where the row of
    // each document is held for as long as the document is there.
    void add(const std::uint64_t* numbers, const std::uint64_t* rows, std::size_t count,
             std::uint32_t* places);
    // Each number must be there with just this row; if one is not, nothing is removed.
    void remove(const std::uint64_t* numbers, const std::uint64_t* rows, std::size_t count);

    // The rows at places that `add` told.
    void rows_at(const std::uint32_t* places, std::size_t count, std::uint64_t* rows) const;

    FoundMatches query(const Query& query, std::size_t threads) const;

    // The sizes of the largest sets of groups that agree on a mask, the largest first.
    std::vector<std::size_t> largest_buckets(std::size_t count) const;

    std::size_t bits() const { return bits_; }
    std::size_t words() const { return words_; }
    std::size_t size() const;
    std::size_t distinct() const;
    std::size_t bytes() const;

  private:
    class Source;

    template <typename Work>
    void change(const Work& work);
    void require_whole() const;
    void insert_numbers(const std::uint64_t* numbers, std::size_t count);
    void add_rows(const std::uint64_t* numbers, const std::uint64_t* rows, std::size_t count,
                  std::uint32_t* places);
    void add_batch(const std::uint64_t* numbers, const std::uint64_t* rows, std::size_t count,
                   std::uint32_t* places);
    void put_back(const std::uint64_t* numbers, const std::uint64_t* rows, std::size_t count);
    void make_room(std::size_t coming);
    bool remove_row(std::uint64_t number, const std::uint64_t* row);
    std::vector<std::size_t> agreeing_sets(const BucketTable::Bucket& bucket,
                                           const MaskKey& mask) const;

    std::size_t words_, bits_;
    std::vector<MaskKey> masks_;
    const LivingKernels& kernels_;
    mutable std::shared_mutex lock_;
    NumberSet numbers_;
    Groups groups_;
    Chunks chunks_;
    std::vector<BucketTable> tables_;  // one for each mask
    std::vector<std::uint32_t> added_;  // groups on their way into the tables
    bool broken_ = false;  // by a change that memory ran out for
};

}  // namespace neardup
