// Reading at a place of an open file, by several threads at once. On Windows this moves the
// position of the file: seek before you read or write there in another way.
#pragma once

#include <cstddef>
#include <cstdint>

namespace neardup {

// The size in bytes of the file with this descriptor. Throws std::system_error.
std::uint64_t file_size(int file);

// Read `size` bytes or fewer; returns how many, 0 at the end. Throws std::system_error.
std::size_t read_some(int file, std::uint64_t at, std::size_t size, void* to);

}  // namespace neardup
