// The kernels as compiled for each instruction set, and the choice between them.
#pragma once

#include <cstddef>
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

// Fingerprint every range that `next` hands out.
using FingerprintRanges = void (*)(const Column&, const Recipe&, const Rows&, const NextRange& next);

namespace portable {
void fingerprint_ranges(const Column&, const Recipe&, const Rows&, const NextRange&);
}
namespace sse2 {
void fingerprint_ranges(const Column&, const Recipe&, const Rows&, const NextRange&);
}
namespace avx2 {
void fingerprint_ranges(const Column&, const Recipe&, const Rows&, const NextRange&);
}

// The instruction sets this machine can run, slowest first.
std::vector<std::string> available_isas();

// The kernel for an instruction set by name, or the fastest one for "auto".
FingerprintRanges fingerprint_kernel(const std::string& isa);

// Fingerprint a whole column on up to `threads` threads. The rows do not depend on their number.
void fingerprint_column(const Column&, const Recipe&, const Rows&, std::size_t threads,
                        FingerprintRanges kernel);

}  // namespace neardup
