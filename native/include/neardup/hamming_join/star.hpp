// The star search: rows are visited in order, and one that is near a kept row is removed; any other
// is kept.
//
// Only kept rows are in the tables, so a family of near rows costs as little as those of it that
// are kept. A block of rows is searched among the rows kept before it by several threads, then row
// by row among those that the block itself keeps. No result depends on the number of threads or on
// the instruction set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "neardup/hamming_join/join.hpp"
#include "neardup/hamming_join/kernels.hpp"
#include "neardup/index_tables/bucket_table.hpp"
#include "neardup/index_tables/kernels.hpp"
#include "neardup/index_tables/mask_key.hpp"
#include "neardup/index_tables/row_index.hpp"
#include "neardup/room.hpp"

namespace neardup {

// The kept row that is nearest so far. Another one takes its place only if its distance is smaller.
struct NearestKept {
    std::uint32_t kept;  // its number among the kept rows, or kNoGroup
    std::uint32_t distance;
};

// Kept rows, each once, numbered in the order in which they were kept.
struct KeptRows {
    std::size_t limbs;
    std::vector<std::uint64_t> limb_values;
    std::vector<std::int64_t> documents;

    std::size_t count() const { return documents.size(); }
    const std::uint64_t* row(std::size_t kept) const { return limb_values.data() + kept * limbs; }
    void add(const std::uint64_t* row, std::int64_t document) {
        limb_values.insert(limb_values.end(), row, row + limbs);
        documents.push_back(document);
    }
};

// What rows must have in common to be near: at most `distance` differing bits, and where there are
// masks, all bits of at least one.
struct Nearness {
    std::uint32_t distance;
    std::vector<MaskKey> masks;
    const HammingKernels& kernels;
    const TableKernels& table_kernels;

    bool agree(const std::uint64_t* x, const std::uint64_t* y) const;

    // Compare a row with the kept rows [first, last), all of which are in a tile. `nearest` must
    // not be at distance 0 yet.
    void compare(const std::uint64_t* row, const KeptRows& kept, const Tile& tile,
                 std::size_t first, std::size_t last, NearestKept& nearest) const;
};

// The rows that a block has kept so far: transposed, to be compared all at once, and where that
// takes longer, chained by their key for each mask.
class FreshRows {
  public:
    static constexpr std::size_t kMost = 8192;

    FreshRows(const Nearness& nearness, const KeptRows& kept);

    // Begin with the next row to be kept.
    void clear();
    // The row that was kept last.
    void add();
    void find_nearest(const std::uint64_t* row, NearestKept& nearest) const;

  private:
    struct Chain {
        std::uint16_t first, size;
    };

    std::size_t slot(std::size_t mask, const std::uint64_t* row) const;
    void follow_chains(const std::uint64_t* row, NearestKept& nearest) const;

    const Nearness& nearness_;
    const KeptRows& kept_;
    Room<std::uint64_t> tile_;
    std::size_t chained_masks_;
    std::vector<Chain> chains_;
    std::vector<std::uint16_t> next_;
    std::size_t first_ = 0, count_ = 0;
};

class StarSearch {
  public:
    // Without masks, rows are compared with all kept ones.
    StarSearch(const Masks& masks, std::size_t limbs, std::size_t bits, std::uint32_t distance,
               const HammingKernels& kernels, const TableKernels& table_kernels);

    // Keep all rows, before any is visited; they are the documents from `document` on.
    void keep(const std::uint64_t* rows, std::size_t count, std::int64_t document,
              std::size_t threads);

    // Write the nearest kept document of each row and its distance, ties to the one that was kept
    // first. Where there is none, write the document itself and 0, and keep it, if `keeps`.
    void visit(const std::uint64_t* rows, const std::int64_t* documents, std::size_t count,
               bool keeps, std::size_t threads, std::int64_t* kept_for, std::uint16_t* distances);

    std::size_t limbs() const { return kept_.limbs; }

  private:
    class Source;
    class Finder;

    struct Table {
        BucketTable buckets;
        Chunks chunks;
    };

    void require_room(std::size_t coming) const;
    void visit_block(const std::uint64_t* rows, const std::int64_t* documents, std::size_t count,
                     bool keeps, std::size_t threads);
    std::uint32_t find_equal(const std::uint64_t* row, std::uint64_t hash) const;
    void index_row(std::size_t kept, std::uint64_t hash);
    void index_rows();
    void fill_table(std::size_t mask);
    void fill_tables(std::size_t threads);

    Nearness nearness_;
    KeptRows kept_;
    FreshRows fresh_;
    RowIndex index_;
    std::size_t indexed_ = 0;    // kept rows in the index
    std::vector<Table> tables_;  // one for each mask
    std::size_t in_tables_ = 0;  // kept rows in the tables; 0 while they are few
    std::vector<NearestKept> nearest_;
    std::mutex lock_;
};

}  // namespace neardup
