#include "neardup/open_file.hpp"

#include <cstdio>
#include <string>
#include <system_error>

#if defined(_WIN32)
#include <io.h>
#else
#include <unistd.h>
#endif

#include "check.hpp"

namespace neardup::tests {

namespace {

int descriptor(std::FILE* file) {
#if defined(_WIN32)
    return _fileno(file);
#else
    return fileno(file);
#endif
}

std::string read_at(int file, std::uint64_t at, std::size_t size) {
    std::string bytes(size, '\0');
    bytes.resize(read_some(file, at, size, bytes.data()));
    return bytes;
}

}  // namespace

void test_open_file() {
    std::FILE* const file = std::tmpfile();
    CHECK(file != nullptr);
    if (file == nullptr) return;
    const std::string text = "one\r\ntwo\n\x1A three";  // nothing is translated, nothing is an end
    std::fwrite(text.data(), 1, text.size(), file);
    std::fflush(file);
    const int number = descriptor(file);
    CHECK(file_size(number) == text.size());
    CHECK(read_at(number, 0, text.size()) == text);
    CHECK(read_at(number, 3, 5) == text.substr(3, 5));
    CHECK(read_at(number, 3, 100) == text.substr(3));
    CHECK(read_at(number, text.size(), 1).empty());
    CHECK(read_at(number, std::uint64_t{5} << 32, 1).empty());
    std::fclose(file);
#if !defined(_WIN32)  // which ends a program that uses a wrong descriptor
    bool refused = false;
    try {
        file_size(1'000'000);
    } catch (const std::system_error&) {
        refused = true;
    }
    CHECK(refused);
#endif
}

}  // namespace neardup::tests
