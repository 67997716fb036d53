#include <stdexcept>

#include "neardup/dispatch.hpp"
#include "neardup/join/kernels.hpp"

namespace neardup {

const JoinKernels& join_kernels_for(const std::string& name) {
    const std::string isa = name == "auto" ? available_isas().back() : name;
    bool runs_here = false;
    for (const std::string& available : available_isas()) runs_here = runs_here || available == isa;
    if (!runs_here)
        throw std::invalid_argument("no kernel for instruction set '" + isa + "' runs here");
#if defined(NEARDUP_X86)
    if (isa == "avx2") return avx2::join_kernels;
    if (isa == "sse2") return sse2::join_kernels;
#endif
    return portable::join_kernels;
}

}  // namespace neardup
