// The items of benchmarks as words, and where they occur in documents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "neardup/buffer.hpp"
#include "neardup/contamination/window_table.hpp"
#include "neardup/text/kernels.hpp"

namespace neardup {

struct BenchmarkSettings {
    std::uint32_t min_words;  // of a hit
    std::uint32_t
        short_words;          // an item with fewer words than a hit needs so many to be looked for
    std::uint32_t max_items;  // a hit has some `min_words` words that no more items have
};

// A run of words of an item: `words` of them from word `item_start` on.
struct ItemRun {
    std::uint32_t item, item_start, words;
};

// A run that is in more items than count.
struct CommonRun {
    std::uint32_t item, item_start, items;
};

// A stretch of a text, in bytes and in characters.
struct TextRange {
    std::int64_t start_byte, end_byte, start, end;
};

struct Hit {
    std::uint32_t document;
    ItemRun run;
    TextRange range;
};

// What a document has of an item: `covered` of its words in `hits` runs, `longest` words in one.
struct ItemInDocument {
    std::uint32_t document, item, covered, longest, hits;
};

// A document with hits, its words, and how many of them are in hits.
struct HitDocument {
    std::uint32_t document;
    std::uint64_t words, covered;
};

// A stretch of a document that is in items of which it has a large enough share.
struct CoveredRange {
    std::uint32_t document;
    TextRange range;
    std::uint64_t words;
};

// What was found in a column of documents, in their order. The hits of a document are in the order
// of the items, those of an item in the order of the document.
struct Found {
    std::vector<Hit> hits;
    std::vector<ItemInDocument> items;
    std::vector<HitDocument> documents;
    std::vector<CoveredRange> ranges;
    std::uint64_t words = 0;  // of all documents
};

class Benchmark {
  public:
    explicit Benchmark(const BenchmarkSettings& settings);

    // Add items. `item_of[i]`, ascending from 0 without gaps, says whose field text i of the column
    // is; `items` is their number. An item without fields is too short. Returns for each field
    // whether it is looked for.
    std::vector<std::uint8_t> add(const Column& fields, const std::uint32_t* item_of,
                                  std::size_t items, const TextKernels& kernels);
    // Items that follow are never the same as earlier ones.
    void begin_next() { known_.clear(); }
    // Make the tables; nothing is added after that.
    void finish();

    std::size_t items() const { return words_of_.size(); }
    // The words of each item that count for its share: those that are looked for, without the words
    // of runs that too many items have, unless all are such; 0 if it is too short.
    const std::vector<std::uint32_t>& words_of() const { return words_of_; }
    // The first item with the same words, since begin_next(); most often the item itself. Hits are
    // those of the first.
    const std::vector<std::uint32_t>& same_as() const { return same_as_; }
    // How many runs of min_words words are in more items than count, and the most frequent ones.
    std::size_t common_count() const { return common_count_; }
    const std::vector<CommonRun>& common() const { return common_; }
    // Where the words of each item begin among all, and which of these count.
    const std::vector<std::uint32_t>& item_begins() const { return item_begins_; }
    bool counts(std::size_t position) const { return !common_words_[position]; }
    std::size_t word_count() const { return word_count_; }
    std::size_t bytes() const;

    // Find the items in documents. `least_share` is for the ranges in `Found`.
    Found scan(const Column& documents, double least_share, const TextKernels& kernels) const;

    // At most so many hits of an item are listed for one document.
    static constexpr std::uint32_t kMostHits = 100;
    // A run begins at one of the first places of its words in the item.
    static constexpr std::uint32_t kMostRepeats = 16;

  private:
    friend class DocumentScan;

    struct Added {
        std::uint64_t one, two;
        bool operator==(const Added&) const = default;
    };
    struct AddedHash {
        std::size_t operator()(const Added& added) const {
            return static_cast<std::size_t>(added.one);
        }
    };

    std::span<const std::uint64_t> words() const { return {buffer_.data(), word_count_}; }
    void add_item(std::span<const std::span<const std::uint64_t>> fields, std::uint8_t* chosen);
    std::size_t field_at(std::uint32_t position) const;
    bool is_seed(std::uint32_t position) const { return seeds_[position]; }
    std::size_t keep(std::span<std::uint32_t> group);
    void count_words();
    std::uint32_t distinct_items(std::span<const std::uint32_t> group) const;

    BenchmarkSettings settings_;
    // Of all fields that are looked for, one by one. A large buffer grows without being copied.
    portable::Buffer<std::uint64_t> buffer_;
    std::size_t word_count_ = 0;
    std::vector<std::uint32_t> field_begins_;  // in words_, and the end
    std::vector<std::uint32_t> field_items_;
    std::vector<std::uint32_t> item_begins_;  // in words_
    std::vector<std::uint32_t> words_of_, same_as_;
    std::vector<bool> seeds_;         // by position: windows that are in the table
    std::vector<bool> common_words_;  // by position: words that do not count for shares
    std::unordered_map<Added, std::uint32_t, AddedHash> known_;
    std::size_t common_count_ = 0;
    std::vector<CommonRun> common_;
    WindowTable windows_, short_items_;
};

}  // namespace neardup
