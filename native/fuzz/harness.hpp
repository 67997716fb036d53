// Shared by all fuzz harnesses. A harness takes arbitrary bytes and aborts if a property does not
// hold; the sanitizers abort on memory errors.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "neardup/dispatch.hpp"

namespace neardup::fuzz {

// One for each file of the same name.
void fuzz_json_lines(const std::uint8_t* data, std::size_t size);
void fuzz_pages(const std::uint8_t* data, std::size_t size);
void fuzz_text(const std::uint8_t* data, std::size_t size);
void fuzz_segment(const std::uint8_t* data, std::size_t size);
void fuzz_sets(const std::uint8_t* data, std::size_t size);
void fuzz_weights(const std::uint8_t* data, std::size_t size);

#define REQUIRE(what)                                                               \
    do {                                                                            \
        if (!(what)) {                                                              \
            std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #what); \
            std::abort();                                                           \
        }                                                                           \
    } while (false)

// The instruction sets to compare with the portable kernels.
inline std::vector<std::string> other_isas() {
    std::vector<std::string> isas = available_isas();
    std::erase(isas, "portable");
    return isas;
}

// The settings that an input begins with, byte by byte; 0 when it is used up.
class Tape {
  public:
    Tape(const std::uint8_t* data, std::size_t size) : at_(data), end_(data + size) {}

    std::size_t size() const { return static_cast<std::size_t>(end_ - at_); }
    const std::uint8_t* rest() const { return at_; }

    std::uint8_t byte() { return at_ == end_ ? 0 : *at_++; }
    std::size_t below(std::size_t limit) { return byte() % limit; }
    std::uint64_t word() {
        std::uint64_t all = 0;
        for (int i = 0; i < 8; ++i) all = all << 8 | byte();
        return all;
    }

  private:
    const std::uint8_t *at_, *end_;
};

// A copy in memory of just its size, so that the sanitizer sees every byte read outside.
template <typename T>
std::unique_ptr<T[]> tight(const T* values, std::size_t count) {
    std::unique_ptr<T[]> copy(new T[count]);
    std::copy_n(values, count, copy.get());
    return copy;
}

}  // namespace neardup::fuzz
