#include "neardup/dispatch.hpp"

#include <stdexcept>

#include "neardup/hamming_join/kernels.hpp"
#include "neardup/index_tables/kernels.hpp"
#include "neardup/json/kernels.hpp"
#include "neardup/set_join/kernels.hpp"
#include "neardup/terms/kernels.hpp"
#include "neardup/text/kernels.hpp"

namespace neardup {

namespace {

struct KnownIsa {
    const char* name;
    Isa isa;
    bool runs_here;
};

std::vector<KnownIsa> known_isas() {
    std::vector<KnownIsa> isas = {{"portable", Isa::portable, true}};
#if defined(NEARDUP_X86)
    isas.push_back({"sse2", Isa::sse2, true});
    __builtin_cpu_init();
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                      __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
    isas.push_back({"avx2", Isa::avx2, avx2});
#endif
    return isas;
}

Isa fastest_isa() {
    Isa fastest = Isa::portable;
    for (const KnownIsa& known : known_isas())
        if (known.runs_here) fastest = known.isa;
    return fastest;
}

}  // namespace

std::vector<std::string> available_isas() {
    std::vector<std::string> names;
    for (const KnownIsa& known : known_isas())
        if (known.runs_here) names.emplace_back(known.name);
    return names;
}

Isa isa_for(const std::string& name) {
    // Found once: an index query of one row takes about a microsecond, and the search another.
    static const Isa fastest = fastest_isa();
    if (name == "auto") return fastest;
    for (const KnownIsa& known : known_isas())
        if (known.runs_here && name == known.name) return known.isa;
    throw std::invalid_argument("no kernel for instruction set '" + name + "' runs here");
}

// The kernels of a topic for an instruction set, which isa_for says that this machine can run.
#if defined(NEARDUP_X86)
#define NEARDUP_CHOSEN(name, isa)               \
    ((isa) == Isa::avx2   ? neardup::avx2::name \
     : (isa) == Isa::sse2 ? neardup::sse2::name \
                          : neardup::portable::name)
#else
#define NEARDUP_CHOSEN(name, isa) (static_cast<void>(isa), neardup::portable::name)
#endif

const TextKernels& text_kernels_for(const std::string& isa) {
    return NEARDUP_CHOSEN(text_kernels, isa_for(isa));
}

const JsonKernels& json_kernels_for(const std::string& isa) {
    return NEARDUP_CHOSEN(json_kernels, isa_for(isa));
}

const HammingKernels& hamming_kernels_for(const std::string& isa) {
    return NEARDUP_CHOSEN(hamming_kernels, isa_for(isa));
}

const SetKernels& set_kernels_for(const std::string& isa) {
    return NEARDUP_CHOSEN(set_kernels, isa_for(isa));
}

const TermKernels& term_kernels_for(const std::string& isa) {
    return NEARDUP_CHOSEN(term_kernels, isa_for(isa));
}

const TableKernels& table_kernels_for(const std::string& isa) {
    return NEARDUP_CHOSEN(table_kernels, isa_for(isa));
}

}  // namespace neardup
