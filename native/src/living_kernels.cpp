// Compiled once per instruction set; see isa.hpp.
#include "neardup/living/kernels.hpp"

#include "neardup/join/compare.hpp"

namespace neardup::NEARDUP_ISA {

static std::uint32_t near_tags(const std::uint32_t* tags, std::uint32_t tag, std::uint32_t most) {
    static_assert(kTagsAtOnce == 2 * kHalves);
    return near_halves(tag, tags, most) | near_halves(tag, tags + kHalves, most) << kHalves;
}

static std::uint32_t distance(const std::uint64_t* x, const std::uint64_t* y, std::size_t words) {
    return distance_of(x, y, words);
}

const LivingKernels living_kernels = {near_tags, distance};

}  // namespace neardup::NEARDUP_ISA
