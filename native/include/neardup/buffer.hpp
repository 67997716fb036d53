// A growable array of plain values that is never initialised and never shrinks by itself.
//
// std::vector would zero what is about to be overwritten, and its out-of-line members, compiled
// once per instruction set, could be merged by the linker into code that older machines run.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>
#include <type_traits>

#include "neardup/isa.hpp"

namespace neardup::NEARDUP_ISA {

template <typename T>
class Buffer {
    static_assert(std::is_trivially_copyable_v<T>);

  public:
    Buffer() = default;
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    ~Buffer() { std::free(data_); }

    // Make room for `size` values; those already there are kept.
    T* reserve(std::size_t size) {
        if (size > capacity_) {
            const std::size_t wanted = size + size / 2;
            void* grown = std::realloc(data_, wanted * sizeof(T));
            if (grown == nullptr) throw std::bad_alloc();
            data_ = static_cast<T*>(grown);
            capacity_ = wanted;
        }
        return data_;
    }

    void release() {
        std::free(data_);
        data_ = nullptr;
        capacity_ = 0;
    }

    void swap(Buffer& other) {
        T* const data = data_;
        const std::size_t capacity = capacity_;
        data_ = other.data_;
        capacity_ = other.capacity_;
        other.data_ = data;
        other.capacity_ = capacity;
    }

    T* data() { return data_; }
    const T* data() const { return data_; }
    std::size_t bytes() const { return capacity_ * sizeof(T); }

  private:
    T* data_ = nullptr;
    std::size_t capacity_ = 0;
};

}  // namespace neardup::NEARDUP_ISA
