// An uninitialised array of plain values that is reused.
//
// The first touch of a new page costs more than a radix pass over it, so joins reuse their memory
// and ask for large pages.
#pragma once

#include <cstddef>
#include <utility>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "neardup/aligned_memory.hpp"

namespace neardup {

template <typename T>
class Room {
  public:
    Room() = default;
    Room(Room&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
    Room& operator=(Room&&) = delete;
    ~Room() { free_aligned(data_); }

    // Make room for `size` values; the previous contents may be lost.
    T* at_least(std::size_t size) {
        if (size > size_) grow(size);
        return data_;
    }

    // Give the memory back.
    void clear() {
        free_aligned(std::exchange(data_, nullptr));
        size_ = 0;
    }

    T* data() { return data_; }
    const T* data() const { return data_; }

    // Transfer ownership of the memory, which must be freed with free_aligned.
    T* release() {
        size_ = 0;
        return std::exchange(data_, nullptr);
    }

  private:
    static constexpr std::size_t kLargePage = std::size_t{2} << 20;

    void grow(std::size_t size) {
        clear();
        std::size_t bytes = size * sizeof(T);
        const std::size_t page = bytes < kLargePage ? 64 : kLargePage;
        bytes = (bytes + page - 1) / page * page;
        data_ = static_cast<T*>(aligned_memory(page, bytes));
#if defined(__linux__)
        if (page == kLargePage) madvise(data_, bytes, MADV_HUGEPAGE);
#endif
        size_ = bytes / sizeof(T);
    }

    T* data_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace neardup
