// A test is a function that uses CHECK; failures are printed with file and line, and counted. Only
// the main thread may CHECK: results of other threads are checked after they have ended.
#pragma once

#include <cstdint>
#include <cstdio>
#include <random>

namespace neardup::tests {

struct Tally {
    long passed = 0, failed = 0;
};

inline Tally& tally() {
    static Tally counts;
    return counts;
}

// `why` identifies the case, for example the seed of a loop.
inline void check(bool holds, const char* what, const char* file, int line, long why) {
    if (holds) {
        ++tally().passed;
        return;
    }
    ++tally().failed;
    std::printf("%s:%d: not so (case %ld): %s\n", file, line, why, what);
}

#define CHECK(what) ::neardup::tests::check(static_cast<bool>(what), #what, __FILE__, __LINE__, -1)
#define CHECK_CASE(what, which)                                                 \
    ::neardup::tests::check(static_cast<bool>(what), #what, __FILE__, __LINE__, \
                            static_cast<long>(which))

// Whether less data is wanted, for an emulator.
inline bool& quick() {
    static bool wanted = false;
    return wanted;
}

// How many of `count` rounds to run.
inline long rounds(long count) { return quick() ? (count + 19) / 20 : count; }

using Random = std::mt19937_64;

// A number from 0 to below `limit`; the standard distributions differ between libraries.
inline std::size_t below(Random& random, std::size_t limit) { return random() % limit; }

// One for each file of the same name.
void test_contamination();
void test_distinct();
void test_majority();
void test_unicode();
void test_features();
void test_fingerprint();
void test_id_set();
void test_open_file();
void test_parallel();
void test_processor();
void test_utf8();
void test_weighted();
void test_kernels();
void test_hamming_join();
void test_json();
void test_index_tables();
void test_numbers();
void test_set_index();
void test_set_join();
void test_passages();
void test_spans();
void test_terms();

}  // namespace neardup::tests
