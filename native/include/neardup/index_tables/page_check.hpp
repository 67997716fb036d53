// Checks that the file of an LMDB environment is consistent, before LMDB follows its pages.
//
// LMDB trusts its file: a page number out of range or a length that is too large crashes the
// program or corrupts other pages. The check visits every reachable page and reads nothing outside
// the file. It checks where values lie, not what they contain.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace neardup {

// A file or a stand-in for one; `read` returns false if not all bytes could be read.
struct PageFile {
    std::uint64_t size;
    std::function<bool(std::uint64_t at, std::size_t size, std::uint8_t* to)> read;
};

// Check only the two front pages, which LMDB reads when it opens a file. Throws
// std::invalid_argument if something is wrong.
void check_front_pages(const PageFile& file);

// Check every page of the two trees that an index has: one table of plain values, and the free
// pages.
void check_pages(const PageFile& file);

}  // namespace neardup
