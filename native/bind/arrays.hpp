// NumPy arrays as arguments and results of the bindings.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "neardup/aligned_memory.hpp"
#include "neardup/room.hpp"
#include "neardup/text/recipe.hpp"

namespace neardup::bind {

namespace nb = nanobind;

template <typename T>
using Input = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// View an Arrow string column. Checks the offsets, so that no kernel can read outside it.
inline Column column_of(const Input<std::uint8_t>& data, const Input<std::int64_t>& offsets) {
    if (offsets.size() == 0) throw std::invalid_argument("a string column has at least one offset");
    const std::int64_t* at = offsets.data();
    const std::size_t count = offsets.size() - 1;
    for (std::size_t i = 0; i < count; ++i)
        if (at[i] > at[i + 1]) throw std::invalid_argument("string offsets must not decrease");
    if (at[0] < 0 || at[count] > static_cast<std::int64_t>(data.size()))
        throw std::invalid_argument("string offsets point outside the data");
    return {data.data(), at, count};
}

// The secret of a keyed hash as passed from Python: seven numbers, or none for plain nd1.
class KeyWords {
  public:
    explicit KeyWords(const Input<std::uint64_t>& words) : given_(words.size() != 0) {
        if (!given_) return;
        if (words.size() != 7) throw std::invalid_argument("the key of a hash has seven words");
        const std::uint64_t* at = words.data();
        key_ = {{at[0], at[1]}, at[2], at[3], at[4], at[5], at[6]};
    }
    const HashKey* get() const { return given_ ? &key_ : nullptr; }

  private:
    bool given_;
    HashKey key_ = {};
};

template <typename T>
using InputRows = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Pass memory made with new[] to NumPy.
template <typename T, typename... Size>
auto owned_array(T* memory, Size... shape) {
    nb::capsule owner(memory, [](void* held) noexcept { delete[] static_cast<T*>(held); });
    return nb::ndarray<nb::numpy, T, nb::ndim<sizeof...(Size)>>(memory, {shape...}, owner);
}

// Pass a vector to NumPy without copying.
template <typename T, typename... Size>
auto array_of(std::vector<T>&& values, Size... shape) {
    auto kept = std::make_unique<std::vector<T>>(std::move(values));
    T* const data = kept->data();
    nb::capsule owner(kept.release(),
                      [](void* held) noexcept { delete static_cast<std::vector<T>*>(held); });
    return nb::ndarray<nb::numpy, T, nb::ndim<sizeof...(Size)>>(data, {shape...}, owner);
}
template <typename T>
auto array_of(std::vector<T>&& values) {
    const std::size_t size = values.size();
    return array_of(std::move(values), size);
}

// An array to be passed to NumPy, in large pages; it may be given away shorter than it was made.
template <typename T>
struct Values {
    Room<T> room;
    std::size_t size;
    T* data;

    explicit Values(std::size_t count) : size(count), data(room.at_least(count == 0 ? 1 : count)) {}

    auto array() {
        T* memory = room.release();
        nb::capsule owner(memory, [](void* held) noexcept { free_aligned(held); });
        return nb::ndarray<nb::numpy, T, nb::ndim<1>>(memory, {size}, owner);
    }
};

}  // namespace neardup::bind
