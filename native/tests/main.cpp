// native_tests [--quick] [NAME...]: all tests or those named; with --quick on a twentieth of the
// data.
#include <cstring>
#include <string>

#include "check.hpp"
#include "neardup/dispatch.hpp"

namespace {

struct Test {
    const char* name;
    void (*run)();
};

constexpr Test kTests[] = {
    {"contamination", neardup::tests::test_contamination},
    {"distinct", neardup::tests::test_distinct},
    {"majority", neardup::tests::test_majority},
    {"unicode", neardup::tests::test_unicode},
    {"utf8", neardup::tests::test_utf8},
    {"features", neardup::tests::test_features},
    {"fingerprint", neardup::tests::test_fingerprint},
    {"weighted", neardup::tests::test_weighted},
    {"id_set", neardup::tests::test_id_set},
    {"open_file", neardup::tests::test_open_file},
    {"parallel", neardup::tests::test_parallel},
    {"processor", neardup::tests::test_processor},
    {"kernels", neardup::tests::test_kernels},
    {"hamming_join", neardup::tests::test_hamming_join},
    {"json", neardup::tests::test_json},
    {"index_tables", neardup::tests::test_index_tables},
    {"numbers", neardup::tests::test_numbers},
    {"set_index", neardup::tests::test_set_index},
    {"set_join", neardup::tests::test_set_join},
    {"passages", neardup::tests::test_passages},
    {"spans", neardup::tests::test_spans},
    {"terms", neardup::tests::test_terms},
};

const Test* find(const char* name) {
    for (const Test& test : kTests)
        if (std::strcmp(name, test.name) == 0) return &test;
    return nullptr;
}

}  // namespace

int main(int count, char** arguments) {
    using namespace neardup::tests;
    int first = 1;
    if (count > 1 && std::strcmp(arguments[1], "--quick") == 0) {
        quick() = true;
        ++first;
    }
    for (int i = first; i < count; ++i) {
        if (find(arguments[i]) == nullptr) {
            std::printf("there is no test %s\n", arguments[i]);
            return 2;
        }
    }
    for (const Test& test : kTests) {
        bool wanted = first == count;
        for (int i = first; i < count; ++i) wanted = wanted || find(arguments[i]) == &test;
        if (wanted) test.run();
    }
    std::printf("instruction sets:");
    for (const std::string& isa : neardup::available_isas()) std::printf(" %s", isa.c_str());
    std::printf("\n%ld passed, %ld failed\n", tally().passed, tally().failed);
    return tally().failed == 0 ? 0 : 1;
}
