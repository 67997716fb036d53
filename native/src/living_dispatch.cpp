#include <stdexcept>

#include "neardup/dispatch.hpp"
#include "neardup/living/kernels.hpp"

namespace neardup {

namespace {

const LivingKernels& named_kernels(const std::string& isa) {
#if defined(NEARDUP_X86)
    if (isa == "avx2") return avx2::living_kernels;
    if (isa == "sse2") return sse2::living_kernels;
#endif
    return portable::living_kernels;
}

}  // namespace

const LivingKernels& living_kernels_for(const std::string& isa) {
    // A query of one row takes about a microsecond; the names alone would cost another.
    static const LivingKernels& fastest = named_kernels(available_isas().back());
    if (isa == "auto") return fastest;
    for (const std::string& available : available_isas())
        if (available == isa) return named_kernels(isa);
    throw std::invalid_argument("no kernel for instruction set '" + isa + "' runs here");
}

}  // namespace neardup
