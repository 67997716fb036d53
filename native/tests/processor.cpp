#include "neardup/processor.hpp"

#include "check.hpp"

namespace neardup::tests {

// What the compiler's library finds, where there is one.
void test_processor() {
#if defined(NEARDUP_X86) && !defined(_MSC_VER)
    __builtin_cpu_init();
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                      __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
    CHECK(runs_avx2() == avx2);
    const bool avx512 =
        avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2") &&
        __builtin_cpu_supports("avx512bitalg") && __builtin_cpu_supports("avx512vpopcntdq");
    CHECK(runs_avx512() == avx512);
#endif
}

}  // namespace neardup::tests
