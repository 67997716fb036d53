// The comparison of parity bitmaps as compiled for each instruction set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "neardup/isa.hpp"

namespace neardup {

struct SetKernels {
    // In how many bits a bitmap of `words` words differs from each of `count` rows. A row has
    // `row_words` words, at least `words`, and is folded to that size; both are powers of two.
    void (*parity_distances)(const std::uint64_t* bitmap, std::size_t words,
                             const std::uint64_t* rows, std::size_t row_words, std::size_t count,
                             std::uint32_t* distances);
};

NEARDUP_IN_EVERY_ISA(extern const SetKernels set_kernels;)

// The kernels for an instruction set by name, or the fastest ones for "auto".
const SetKernels& set_kernels_for(const std::string& isa);

}  // namespace neardup
