// The weighted features of one document in any order → in ascending order, each once.
#pragma once

#include <cstddef>
#include <cstdint>

#include "neardup/buffer.hpp"
#include "neardup/hash_sorter.hpp"
#include "neardup/isa.hpp"

namespace neardup::NEARDUP_ISA {

class FeatureOrder {
  public:
    // Write the features to `to_hashes` and `to_weights`, which have room for all of them; return
    // how many are different. The weights of equal ones are added as they come.
    std::size_t run(const std::uint64_t* hashes, const double* weights, std::size_t count,
                    std::uint64_t* to_hashes, double* to_weights) {
        WeightedHash* const items = items_.reserve(count);
        bool ascend = true;
        for (std::size_t i = 0; i < count; ++i) {
            items[i] = {hashes[i], weights[i]};
            ascend &= i == 0 || hashes[i - 1] < hashes[i];
        }
        if (!ascend) sorter_.run(items, count);
        std::size_t kept = 0;
        for (std::size_t i = 0; i < count; ++i) {
            if (kept != 0 && to_hashes[kept - 1] == items[i].hash) {
                to_weights[kept - 1] += items[i].weight;
                continue;
            }
            to_hashes[kept] = items[i].hash;
            to_weights[kept++] = items[i].weight;
        }
        return kept;
    }

  private:
    Buffer<WeightedHash> items_;
    HashSorter<WeightedHash> sorter_;
};

}  // namespace neardup::NEARDUP_ISA
