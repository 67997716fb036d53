// The instruction set that a translation unit is compiled for.
//
// The kernels are compiled once per set, each time inside a namespace of that name, so that no
// function compiled for AVX2 can be linked where the baseline one was meant.
#pragma once

#include <bit>

static_assert(std::endian::native == std::endian::little, "bytes are loaded as they lie");

#ifndef NEARDUP_ISA
#define NEARDUP_ISA portable
#endif

// A declaration for each instruction set that there is, here or elsewhere.
#define NEARDUP_IN_EVERY_ISA(declaration) \
    namespace portable {                  \
    declaration                           \
    }                                     \
    namespace sse2 {                      \
    declaration                           \
    }                                     \
    namespace avx2 {                      \
    declaration                           \
    }                                     \
    namespace avx512 {                    \
    declaration                           \
    }                                     \
    namespace neon {                      \
    declaration                           \
    }

#define NEARDUP_INLINE inline __attribute__((always_inline))

// For loops that need all registers: not inlined.
#define NEARDUP_APART __attribute__((noinline))
