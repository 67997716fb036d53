// Compiled once per instruction set; see isa.hpp.
#include "neardup/hamming_join/compare.hpp"

namespace neardup::NEARDUP_ISA {

static void compare_one(const std::uint64_t* row, std::size_t i, const Tile& tile,
                        std::size_t first, std::size_t last, std::uint32_t most,
                        const OnPair& found) {
    // Twice as fast where the compiler knows that there is one limb.
    if (tile.row_limbs == 1)
        compare_tile<false>(row, i, Tile{tile.limbs, 0, 1, tile.first}, first, last, most, found);
    else
        compare_tile<false>(row, i, tile, first, last, most, found);
}

const HammingKernels hamming_kernels = {compare_limbs, compare_rows, compare_one};

}  // namespace neardup::NEARDUP_ISA
