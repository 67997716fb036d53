#include "neardup/processor.hpp"

#if defined(NEARDUP_X86)

#include <cpuid.h>

#include <cstdint>

namespace neardup {

namespace {

// The registers that cpuid fills, zeros for a leaf that the processor does not have.
struct Leaf {
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    explicit Leaf(unsigned number) { __get_cpuid_count(number, 0, &eax, &ebx, &ecx, &edx); }
};

// The registers that the operating system saves when it switches threads; 0 if it does not say.
std::uint32_t saved_registers() {
    if ((Leaf(1).ecx & bit_OSXSAVE) == 0) return 0;
    std::uint32_t low = 0, high = 0;
    asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

bool has(unsigned bits, unsigned wanted) { return (bits & wanted) == wanted; }

constexpr std::uint32_t kSavedAvx = 0x06;     // SSE and the upper halves of AVX
constexpr std::uint32_t kSavedAvx512 = 0xE6;  // and masks, upper halves of ZMM, registers 16 to 31

// Bits of leaf 7, which not every compiler's <cpuid.h> has under the same names.
constexpr unsigned kEbxAvx2 = 1U << 5, kEbxBmi = 1U << 3, kEbxBmi2 = 1U << 8;
constexpr unsigned kEbxAvx512F = 1U << 16, kEbxAvx512Dq = 1U << 17, kEbxAvx512Bw = 1U << 30,
                   kEbxAvx512Vl = 1U << 31;
constexpr unsigned kEcxVbmi = 1U << 1, kEcxVbmi2 = 1U << 6, kEcxBitalg = 1U << 12,
                   kEcxVpopcntdq = 1U << 14;

}  // namespace

bool runs_avx2() {
    return has(saved_registers(), kSavedAvx) && has(Leaf(1).ecx, bit_AVX | bit_POPCNT) &&
           has(Leaf(7).ebx, kEbxAvx2 | kEbxBmi | kEbxBmi2);
}

bool runs_avx512() {
    const Leaf leaf(7);
    return runs_avx2() && has(saved_registers(), kSavedAvx512) &&
           has(leaf.ebx, kEbxAvx512F | kEbxAvx512Dq | kEbxAvx512Bw | kEbxAvx512Vl) &&
           has(leaf.ecx, kEcxVbmi | kEcxVbmi2 | kEcxBitalg | kEcxVpopcntdq);
}

}  // namespace neardup

#endif
