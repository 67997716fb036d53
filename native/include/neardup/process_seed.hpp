// A random seed for the hash tables of this process.
//
// Nobody can choose values that collide in a table that mixes it in. Use it only in tables whose
// order is not visible: results must not depend on it.
#pragma once

#include <cstdint>
#include <random>

#include "neardup/text/nd1.hpp"

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
