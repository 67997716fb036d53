#include "neardup/open_file.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <io.h>
#include <windows.h>
#else
#include <unistd.h>
#endif

namespace neardup {

namespace {

[[noreturn]] void fail() {
    throw std::system_error(errno, std::generic_category(), "the file cannot be read");
}

// Windows and macOS take no more at once than fits in 31 bits.
constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;

}  // namespace

#if defined(_WIN32)

std::uint64_t file_size(int file) {
    struct _stat64 about{};
    if (_fstat64(file, &about) != 0) fail();
    return static_cast<std::uint64_t>(about.st_size);
}

std::size_t read_some(int file, std::uint64_t at, std::size_t size, void* to) {
    const auto handle = reinterpret_cast<HANDLE>(_get_osfhandle(file));
    if (handle == INVALID_HANDLE_VALUE) fail();
    OVERLAPPED place{};
    place.Offset = static_cast<DWORD>(at);
    place.OffsetHigh = static_cast<DWORD>(at >> 32);
    DWORD got = 0;
    if (ReadFile(handle, to, static_cast<DWORD>(std::min(size, kMostAtOnce)), &got, &place) == 0) {
        const DWORD error = GetLastError();
        if (error == ERROR_HANDLE_EOF) return 0;
        throw std::system_error(static_cast<int>(error), std::system_category(),
                                "the file cannot be read");
    }
    return got;
}

#else

std::uint64_t file_size(int file) {
    struct stat about{};
    if (fstat(file, &about) != 0) fail();
    return static_cast<std::uint64_t>(about.st_size);
}

std::size_t read_some(int file, std::uint64_t at, std::size_t size, void* to) {
    while (true) {
        const ssize_t got = pread(file, to, std::min(size, kMostAtOnce), static_cast<off_t>(at));
        if (got >= 0) return static_cast<std::size_t>(got);
        if (errno != EINTR) fail();
    }
}

#endif

}  // namespace neardup
