// Texts → their terms: shingles as strings, each distinct one stored once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "neardup/terms/kernels.hpp"
#include "neardup/terms/term_table.hpp"
#include "neardup/terms/unit_joiner.hpp"
#include "neardup/text/recipe.hpp"

namespace neardup {

// The units that a term consists of: it is one itself, or it is made of words or characters.
enum class TermUnits : std::uint8_t { one, words, characters };

// Strings whose shingles are terms. Document i has the strings documents[i] … documents[i + 1], or
// string i if `documents` is null; with words[i] == 0 it has no terms. Sources of the same field
// must stand in a row; their equal shingles count together.
struct TermSource {
    Column strings;
    const std::int64_t* documents;
    const std::uint32_t* words;
    Shingle shingle;
    std::uint32_t field;
};

// Document i has the terms places[offsets[i]] … places[offsets[i + 1]], in the order of the text.
// Term j is the `bytes` from begins[j], lengths[j] of them: the prefix of its field and a shingle.
struct FoundTerms {
    std::vector<std::int64_t> offsets;
    std::vector<std::int32_t> places;
    std::vector<double> counts;
    std::vector<std::int64_t> begins, lengths;
    std::vector<TermUnits> units;
    std::vector<std::uint32_t> fields;
    Arena bytes;
};

// Counts the terms of documents, one after the other.
class TermCounter {
  public:
    // `ways` is 2 if terms of equal bytes can be different shingles in one document.
    explicit TermCounter(std::size_t ways) : ways_(ways) { found_.offsets.push_back(0); }

    Arena& arena() { return found_.bytes; }

    // Terms are counted from here to the next call, or the end of the document.
    void begin_part() { part_ = found_.places.size(); }

    // Count a stretch of the arena as a term; it stays where it is if the term is new and has no
    // prefix.
    void count(std::uint64_t hash, std::size_t begin, std::size_t length, TermUnits units,
               std::uint32_t field, const std::string& prefix);

    void end_document() {
        found_.offsets.push_back(static_cast<std::int64_t>(found_.places.size()));
    }

    // Whether terms were added to the table since the arena had `size` bytes.
    bool has_new_since(std::size_t size) const { return newest_end_ > size; }

    const TermTable& table() const { return table_; }
    // What was found, with the prefix of each field.
    FoundTerms finished(const std::vector<std::string>& prefixes);

  private:
    std::size_t ways_;
    TermTable table_;
    FoundTerms found_;
    std::vector<std::size_t> last_entry_;  // of each term and way: the place of its count, plus 1
    std::size_t part_ = 0;
    std::size_t newest_end_ = 0;
};

FoundTerms find_terms(const std::vector<TermSource>& sources,
                      const std::vector<std::string>& prefixes, std::size_t documents,
                      const TermKernels& kernels);

}  // namespace neardup
