// What an x86-64 processor can run, asked of itself: the compiler's own question needs a library
// that clang-cl does not link.
#pragma once

namespace neardup {

// AVX2, BMI, BMI2 and POPCNT.
bool runs_avx2();

// Also what Ice Lake, Zen 4 and later have of AVX-512.
bool runs_avx512();

}  // namespace neardup
