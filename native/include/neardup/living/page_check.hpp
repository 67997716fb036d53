// Whether the file of an LMDB environment hangs together, told before LMDB follows its pages.
//
// LMDB trusts its file: a page number that leads nowhere, or a length that is too long, ends the
// program or spoils other pages. Here every page that can be reached is looked at, and nothing
// outside the file. What values hold is not read, only where they lie.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace neardup {

// A file, or what stands for one; `read` is false where not all of the bytes could be read.
struct PageFile {
    std::uint64_t size;
    std::function<bool(std::uint64_t at, std::size_t size, std::uint8_t* to)> read;
};

// Look at the two pages in front only, which LMDB reads when it opens a file. What is wrong is an
// invalid_argument.
void check_front_pages(const PageFile& file);

// Look at every page: of one table of plain values and of the free pages, as an index has them.
void check_pages(const PageFile& file);

}  // namespace neardup
