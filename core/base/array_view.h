// core/base: what every room of the core needs and no room owns.
//
// - arrays that others keep (here), checks of what callers hand over (checks.h), pairs of texts (pairs.h);
// - the one hash table (flat_table.h) and the two ways to hash (hashing.h, keyed_hash.h), sorted numbers (ascending_numbers.h);
// - characters and UTF-8 (unicode.h), what compilers call by different names (portable.h);
// - memory that batches share (recycled_memory.h) or calls leave to the next (spare.h), requests to stop (interrupt.h).
//
// Nothing here knows Python, and nothing here includes another room.
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
