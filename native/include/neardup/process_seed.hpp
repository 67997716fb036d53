// Two numbers that nobody outside this process knows.
//
// Hash tables that mix them in cannot be filled with values chosen to collide. Only for tables whose
// order nobody sees: results must not depend on them.
#pragma once

#include <cstdint>
#include <random>

#include "nd1.hpp"

namespace neardup {

struct ProcessSeed {
    std::uint64_t first, second;

    std::uint64_t mix(std::uint64_t value) const {
        return portable::fold_multiply(value ^ first, second);
    }
};

inline const ProcessSeed& process_seed() {
    static const ProcessSeed seed = [] {
        std::random_device device;
        const auto word = [&] { return std::uint64_t{device()} << 32 | device(); };
        return ProcessSeed{word(), word() | 1};
    }();
    return seed;
}

}  // namespace neardup
