#include <fcntl.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "neardup/living/page_check.hpp"

namespace neardup::bind {

namespace nb = nanobind;
using nb::literals::operator""_a;

namespace {

bool read_all(int file, std::uint64_t at, std::size_t size, std::uint8_t* to) {
    while (size != 0) {
        const ssize_t got = pread(file, to, size, static_cast<off_t>(at));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        at += static_cast<std::uint64_t>(got);
        to += got;
        size -= static_cast<std::size_t>(got);
    }
    return true;
}

}  // namespace

void register_pages(nb::module_& m) {
    m.def(
        "check_pages",
        [](int file, bool all) {
            nb::gil_scoped_release release;
            struct stat about {};
            if (fstat(file, &about) != 0) throw std::invalid_argument("it cannot be read");
            const PageFile pages{static_cast<std::uint64_t>(about.st_size),
                                 [file](std::uint64_t at, std::size_t size, std::uint8_t* to) {
                                     return read_all(file, at, size, to);
                                 }};
            all ? check_pages(pages) : check_front_pages(pages);
        },
        "file"_a, "all"_a);
}

}  // namespace neardup::bind
