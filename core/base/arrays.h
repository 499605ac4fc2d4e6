// NumPy arrays in and out of the core.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

#include "base/array_view.h"

namespace tesla {

template <class T>
using Array = nanobind::ndarray<const T, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;

template <class T>
ArrayView<T> view_of(const Array<T>& array) {
    return {array.data(), array.size()};
}
template <class T>
std::vector<T> copied(const Array<T>& array) {
    return {array.data(), array.data() + array.size()};
}

// Hands a vector over to NumPy without copying; `columns` > 0 makes it a matrix with that many columns.
template <class T>
nanobind::object to_numpy(std::vector<T>&& values, std::size_t columns = 0) {
    auto* owned = new std::vector<T>(std::move(values));
    nanobind::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    if (columns == 0)
        return nanobind::cast(nanobind::ndarray<nanobind::numpy, T>(owned->data(), {owned->size()}, owner));
    std::size_t rows = owned->size() / columns;
    return nanobind::cast(nanobind::ndarray<nanobind::numpy, T>(owned->data(), {rows, columns}, owner));
}

// Refuses offsets that do not cut `items` items into `rows` rows: row i has the items offsets[i] .. offsets[i + 1].
inline void check_csr(const ArrayView<std::int64_t>& offsets, std::size_t rows, std::size_t items) {
    bool good = offsets.size == rows + 1 && offsets[0] == 0 && static_cast<std::size_t>(offsets[rows]) == items;
    for (std::size_t i = 0; good && i < rows; ++i) good = offsets[i] <= offsets[i + 1];
    if (!good) throw nanobind::value_error("offsets do not fit the arrays");
}
inline void check_csr(const Array<std::int64_t>& offsets, std::size_t rows, std::size_t items) {
    check_csr(view_of(offsets), rows, items);
}
// The same for any number of rows.
inline void check_csr(const Array<std::int64_t>& offsets, std::size_t items) {
    if (offsets.size() == 0) throw nanobind::value_error("offsets do not fit the arrays");
    check_csr(offsets, offsets.size() - 1, items);
}

// Refuses columns that are not as long as the first one.
inline void check_columns(std::size_t rows, std::initializer_list<std::size_t> sizes) {
    for (std::size_t size : sizes)
        if (size != rows) throw nanobind::value_error("the arrays do not fit together");
}

// Refuses numbers that count or more: each must be one of `count` things.
inline void check_below(const ArrayView<std::uint32_t>& numbers, std::size_t count, const char* what) {
    std::uint32_t highest = 0;
    for (std::uint32_t number : numbers) highest = std::max(highest, number);
    if (numbers.size > 0 && highest >= count) throw nanobind::index_error(what);
}
inline void check_below(const Array<std::uint32_t>& numbers, std::size_t count, const char* what) {
    check_below(view_of(numbers), count, what);
}

// Refuses indices of pairs that differ in number or point past the texts.
inline void check_pairs(const Array<std::int64_t>& reference_index, std::size_t references,
                        const Array<std::int64_t>& hypothesis_index, std::size_t hypotheses) {
    if (reference_index.size() != hypothesis_index.size()) throw nanobind::value_error("the indices do not belong together");
    for (std::size_t k = 0; k < reference_index.size(); ++k)
        if (static_cast<std::size_t>(reference_index(k)) >= references ||
            static_cast<std::size_t>(hypothesis_index(k)) >= hypotheses)
            throw nanobind::index_error("no such text");
}

// Refuses an index that is not of ascending numbers of texts.
inline void check_ascending(const Array<std::int64_t>& index, std::size_t size) {
    for (std::size_t k = 0; k < index.size(); ++k) {
        if (static_cast<std::size_t>(index(k)) >= size) throw nanobind::index_error("no such text");
        if (k > 0 && index(k) <= index(k - 1)) throw nanobind::value_error("the indices do not ascend");
    }
}

}  // namespace tesla
