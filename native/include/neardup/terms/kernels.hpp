// Texts → words and terms → MD5, for every instruction set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "neardup/isa.hpp"
#include "neardup/terms/term_list.hpp"

namespace neardup {

// Lower-cased text and its words: pair i is the start and the end of a word in it, or of a run of
// solo characters of three bytes. At least 16 bytes can be read behind the text.
struct LoweredWords {
    const std::uint8_t* text;
    std::size_t size;
    const std::uint32_t* edges;
    std::size_t pairs;
    std::size_t words;  // characters of runs are counted one by one
};

// Cuts texts into words; what it returns stays valid until the next call.
class WordCutter {
  public:
    virtual ~WordCutter();
    virtual LoweredWords cut(const std::uint8_t* text, std::size_t size) = 0;
};

struct TermKernels {
    WordCutter* (*new_word_cutter)();
    // The MD5 digests of the terms from `first` to below `last`, as one or two 64-bit limbs each.
    void (*md5)(const TermList&, std::size_t first, std::size_t last, std::size_t limbs,
                std::uint64_t* rows);
};

NEARDUP_IN_EVERY_ISA(extern const TermKernels term_kernels;)

// The kernels for an instruction set by name, or the fastest ones for "auto".
const TermKernels& term_kernels_for(const std::string& isa);

// The MD5 digests of all terms, on up to `threads` threads.
void md5_rows(const TermList&, std::size_t limbs, std::uint64_t* rows, std::size_t threads,
              const TermKernels& kernels);

}  // namespace neardup
