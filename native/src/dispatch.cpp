#include "neardup/dispatch.hpp"

#include <stdexcept>

#include "neardup/hamming_join/kernels.hpp"
#include "neardup/index_tables/kernels.hpp"
#include "neardup/json/kernels.hpp"
#include "neardup/processor.hpp"
#include "neardup/set_join/kernels.hpp"
#include "neardup/terms/kernels.hpp"
#include "neardup/text/kernels.hpp"

namespace neardup {

namespace {

// The kernels of every topic for one instruction set.
struct IsaKernels {
    const char* name;
    const HammingKernels& hamming;
    const TableKernels& tables;
    const JsonKernels& json;
    const SetKernels& sets;
    const TermKernels& terms;
    const TextKernels& text;
};

#define NEARDUP_ISA_KERNELS(isa)                                                             \
    IsaKernels {                                                                             \
        #isa, isa::hamming_kernels, isa::table_kernels, isa::json_kernels, isa::set_kernels, \
            isa::term_kernels, isa::text_kernels                                             \
    }

// Those that this machine can run, slowest first. Found once: an index query of one row takes about
// a microsecond, and the search another.
const std::vector<IsaKernels>& kernels_here() {
    static const std::vector<IsaKernels> all = [] {
        std::vector<IsaKernels> here = {NEARDUP_ISA_KERNELS(portable)};
#if defined(NEARDUP_X86)
        here.push_back(NEARDUP_ISA_KERNELS(sse2));
        if (runs_avx2()) here.push_back(NEARDUP_ISA_KERNELS(avx2));
#if defined(NEARDUP_AVX512)
        if (runs_avx512()) here.push_back(NEARDUP_ISA_KERNELS(avx512));
#endif
#elif defined(NEARDUP_ARM64)
        here.push_back(NEARDUP_ISA_KERNELS(neon));
#endif
        return here;
    }();
    return all;
}

// Those of the instruction set of this name, or of the fastest one for "auto".
const IsaKernels& kernels_for(const std::string& name) {
    const std::vector<IsaKernels>& all = kernels_here();
    if (name == "auto") return all.back();
    for (const IsaKernels& kernels : all)
        if (name == kernels.name) return kernels;
    throw std::invalid_argument("no kernel for instruction set '" + name + "' runs here");
}

}  // namespace

std::vector<std::string> available_isas() {
    std::vector<std::string> names;
    for (const IsaKernels& kernels : kernels_here()) names.emplace_back(kernels.name);
    return names;
}

const HammingKernels& hamming_kernels_for(const std::string& isa) {
    return kernels_for(isa).hamming;
}
const TableKernels& table_kernels_for(const std::string& isa) { return kernels_for(isa).tables; }
const JsonKernels& json_kernels_for(const std::string& isa) { return kernels_for(isa).json; }
const SetKernels& set_kernels_for(const std::string& isa) { return kernels_for(isa).sets; }
const TermKernels& term_kernels_for(const std::string& isa) { return kernels_for(isa).terms; }
const TextKernels& text_kernels_for(const std::string& isa) { return kernels_for(isa).text; }

}  // namespace neardup
