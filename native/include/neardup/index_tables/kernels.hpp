// The comparisons of the index tables as compiled for each instruction set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "neardup/isa.hpp"

namespace neardup {

inline constexpr std::size_t kTagsAtOnce = 32;

struct TableKernels {
    // A bit for each of `kTagsAtOnce` tags that differs from `tag` in at most `most` bits, and in
    // none of the `exact` ones.
    std::uint32_t (*near_tags)(const std::uint32_t* tags, std::uint32_t tag, std::uint32_t exact,
                               std::uint32_t most);
    // In how many bits two rows differ.
    std::uint32_t (*distance)(const std::uint64_t* x, const std::uint64_t* y, std::size_t limbs);
};

NEARDUP_IN_EVERY_ISA(extern const TableKernels table_kernels;)

// The comparisons for an instruction set by name, or the fastest ones for "auto".
const TableKernels& table_kernels_for(const std::string& isa);

}  // namespace neardup
