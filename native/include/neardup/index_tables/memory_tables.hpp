// Numbered rows in memory that can be added and removed, found by the masks on which they agree
// with a query.
//
// Many threads may query at a time; a change locks out all other threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <shared_mutex>
#include <vector>

#include "neardup/index_tables/bucket_table.hpp"
#include "neardup/index_tables/groups.hpp"
#include "neardup/index_tables/kernels.hpp"
#include "neardup/index_tables/mask_key.hpp"
#include "neardup/index_tables/numbers.hpp"
#include "neardup/index_tables/search.hpp"

namespace neardup {

class MemoryTables {
  public:
    MemoryTables(const std::uint64_t* masks, std::size_t count, std::size_t limbs, std::size_t bits,
                 const TableKernels& kernels);

    // Numbers are below 2^63 and unique. Writes to `places` where the row of each document is held,
    // which is valid until the document is removed.
    void add(const std::uint64_t* numbers, const std::uint64_t* rows, std::size_t count,
             std::uint32_t* places);
    // Each number must be present with exactly this row; otherwise nothing is removed.
    void remove(const std::uint64_t* numbers, const std::uint64_t* rows, std::size_t count);

    // The rows at places that `add` returned.
    void rows_at(const std::uint32_t* places, std::size_t count, std::uint64_t* rows) const;

    FoundMatches query(const Query& query, std::size_t threads) const;

    // The sizes of the largest sets of groups that agree on a mask, the largest first.
    std::vector<std::size_t> largest_buckets(std::size_t count) const;

    std::size_t bits() const { return bits_; }
    std::size_t limbs() const { return limbs_; }
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

    std::size_t limbs_, bits_;
    std::vector<MaskKey> masks_;
    const TableKernels& kernels_;
    mutable std::shared_mutex lock_;
    NumberSet numbers_;
    Groups groups_;
    Chunks chunks_;
    std::vector<BucketTable> tables_;   // one for each mask
    std::vector<std::uint32_t> added_;  // groups that are being added to the tables
    bool broken_ = false;               // by a change during which memory ran out
};

}  // namespace neardup
