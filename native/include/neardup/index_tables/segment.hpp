// Numbered rows with a table for each mask, written once and read in place.
//
// kernels/segment_format.py describes the bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "neardup/index_tables/kernels.hpp"
#include "neardup/index_tables/mask_key.hpp"
#include "neardup/index_tables/search.hpp"

namespace neardup {

struct SegmentHead {
    static constexpr std::uint64_t kMagic = 0x1A7075647261656EULL;  // "neardup" and an end of file
    static constexpr std::uint64_t kVersion = 1;

    std::uint64_t magic, version, bits, masks, groups, documents, bytes;
    std::uint64_t body_sum, plan_sum, head_sum;
};
static_assert(sizeof(SegmentHead) == 80);

// Where the parts of a segment begin, in bytes.
struct SegmentLayout {
    struct Table {
        unsigned depth;
        std::size_t buckets, tags, groups;
    };

    SegmentLayout() = default;
    SegmentLayout(const std::vector<MaskKey>& keys, std::size_t limbs, std::size_t groups,
                  std::size_t documents);

    std::size_t body = 0, starts = 0, numbers = 0, end = 0;
    std::vector<Table> tables;
};

// A sum over 64-bit words that any change of one word, or exchange of two, changes.
std::uint64_t segment_checksum(const std::uint64_t* words, std::size_t count);

// Numbers to leave out, ascending.
struct DeadNumbers {
    const std::uint64_t* numbers;
    std::size_t count;
};

struct NumberedRows {
    std::vector<std::uint64_t> numbers, rows;
};

// A segment in memory that it does not own. Damage throws std::invalid_argument when the segment is
// opened or when the damaged part is read; nothing outside the segment is ever read.
class Segment {
  public:
    Segment(const std::uint8_t* data, std::size_t size);
    Segment(Segment&&) = default;

    FoundMatches query(const Query& query, const DeadNumbers& dead, std::size_t threads,
                       const TableKernels& kernels) const;

    // Read every byte.
    void check() const;
    // Append the documents, sorted by row, then by number.
    void append_rows(const DeadNumbers& dead, NumberedRows& to) const;

    std::size_t bits() const { return head().bits; }
    std::size_t limbs() const { return (head().bits + 63) / 64; }
    std::size_t documents() const { return head().documents; }
    std::size_t mask_count() const { return head().masks; }
    const std::uint64_t* mask_rows() const { return data_ + sizeof(SegmentHead) / 8; }

  private:
    class Source;

    const SegmentHead& head() const { return *reinterpret_cast<const SegmentHead*>(data_); }
    template <typename T>
    const T* part(std::size_t at) const {
        return reinterpret_cast<const T*>(data_ + at / 8);
    }
    // The range of a group's numbers.
    struct Span {
        std::size_t first, last;
    };
    Span members(std::size_t group) const;

    std::vector<std::uint64_t> aligned_;  // a copy, if the memory was not aligned
    const std::uint64_t* data_;
    std::size_t size_;
    std::vector<MaskKey> masks_;
    SegmentLayout layout_;
};

// Sorts and groups documents in its constructor; then the size is known and `write` can be called.
class SegmentWriter {
  public:
    SegmentWriter(const std::uint64_t* numbers, const std::uint64_t* rows, std::size_t count,
                  const std::uint64_t* masks, std::size_t mask_count, std::size_t bits);

    std::size_t bytes() const { return layout_.end; }
    // To memory aligned for 64-bit words.
    void write(std::uint8_t* to) const;

  private:
    struct Item {
        std::uint64_t first_limb;
        std::uint32_t place;
    };

    std::vector<Item> sorted_items() const;
    std::vector<std::uint32_t> group_starts() const;
    void write_table(std::uint8_t* to, std::size_t mask) const;

    const std::uint64_t *numbers_, *rows_, *mask_rows_;
    std::size_t count_, mask_count_, bits_, limbs_;
    std::vector<MaskKey> masks_;
    std::vector<Item> items_;
    std::vector<std::uint32_t> starts_;
    SegmentLayout layout_;
};

}  // namespace neardup
