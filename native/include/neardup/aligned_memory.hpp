// Memory that begins at a multiple of a power of two, and is freed only by free_aligned.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

#if defined(_WIN32)
#include <malloc.h>
#endif

namespace neardup {

// `bytes` is a multiple of `alignment`.
inline void* aligned_memory(std::size_t alignment, std::size_t bytes) {
#if defined(_WIN32)
    void* memory = _aligned_malloc(bytes, alignment);
#else
    void* memory = std::aligned_alloc(alignment, bytes);
#endif
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}

inline void free_aligned(void* memory) noexcept {
#if defined(_WIN32)
    _aligned_free(memory);
#else
    std::free(memory);
#endif
}

}  // namespace neardup
