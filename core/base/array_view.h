// An array that somebody else keeps.
#pragma once

#include <cstddef>
#include <vector>

namespace tesla {

template <class T>
struct ArrayView {
    const T* data = nullptr;
    std::size_t size = 0;

    ArrayView() = default;
    ArrayView(const T* first, std::size_t count) : data(first), size(count) {}
    ArrayView(const std::vector<T>& values) : data(values.data()), size(values.size()) {}

    const T& operator[](std::size_t i) const { return data[i]; }
    const T* begin() const { return data; }
    const T* end() const { return data + size; }
};

}  // namespace tesla
