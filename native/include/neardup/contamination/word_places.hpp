// Where some words of a text stand, in bytes and in characters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace neardup {

struct WordPlace {
    std::int64_t start_byte, end_byte, start, end;
};

// The places of the words with these numbers, which ascend. The text is well-formed UTF-8.
std::vector<WordPlace> word_places(std::span<const std::uint8_t> text,
                                   std::span<const std::uint64_t> numbers);

}  // namespace neardup
