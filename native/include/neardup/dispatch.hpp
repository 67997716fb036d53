// The kernels as compiled for each instruction set, and the choice between them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "recipe.hpp"

namespace neardup {

// Hands out the next range of documents as [first, last); an empty one means there is no more.
struct Range {
    std::size_t first, last;
};
using NextRange = std::function<Range()>;

// What each instruction set has its own version of.
struct Kernels {
    // Fingerprint every range that `next` hands out.
    void (*fingerprint_ranges)(const Column&, const Recipe&, const Rows&, const NextRange& next);
    // The same for documents of weighted terms.
    void (*weigh_ranges)(const TermColumn&, const TermRecipe&, const TermRows&, const NextRange& next);
    // Whether bytes are well-formed UTF-8.
    bool (*is_utf8)(const std::uint8_t* text, std::size_t size);
};

namespace portable {
extern const Kernels kernels;
}
namespace sse2 {
extern const Kernels kernels;
}
namespace avx2 {
extern const Kernels kernels;
}

// The instruction sets this machine can run, slowest first.
std::vector<std::string> available_isas();

// The kernels for an instruction set by name, or the fastest ones for "auto".
const Kernels& kernels_for(const std::string& isa);

// Fingerprint a whole column on up to `threads` threads. The rows do not depend on their number.
void fingerprint_column(const Column&, const Recipe&, const Rows&, std::size_t threads,
                        const Kernels& kernels);

// The same for a column of weighted terms.
void weigh_column(const TermColumn&, const TermRecipe&, const TermRows&, std::size_t threads,
                  const Kernels& kernels);

// Whether every string of a column is well-formed UTF-8.
bool is_utf8_column(const Column&, const Kernels& kernels);

}  // namespace neardup
