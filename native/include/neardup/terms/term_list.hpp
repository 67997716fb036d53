// Strings that lie anywhere in a stretch of memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace neardup {

// Term i is data[begins[i] … begins[i] + lengths[i]); `size` is the number of bytes of the data.
struct TermList {
    const std::uint8_t* data;
    std::size_t size;
    const std::int64_t* begins;
    const std::int64_t* lengths;
    std::size_t count;
};

}  // namespace neardup
