// One harness as libFuzzer calls it; NEARDUP_FUZZ_TOPIC is its function.
#include "harness.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    neardup::fuzz::NEARDUP_FUZZ_TOPIC(data, size);
    return 0;
}
