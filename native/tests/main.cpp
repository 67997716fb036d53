#include "check.hpp"

int main() {
    using namespace neardup::tests;
    test_distinct();
    test_majority();
    test_unicode();
    test_utf8();
    test_features();
    test_fingerprint();
    test_weighted();
    test_id_set();
    test_parallel();
    test_hamming_join();
    test_json();
    test_index_tables();
    test_numbers();
    test_set_join();
    test_terms();
    std::printf("%ld passed, %ld failed\n", tally().passed, tally().failed);
    return tally().failed == 0 ? 0 : 1;
}
