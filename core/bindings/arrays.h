// NumPy arrays in and out of the core.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "base/array_view.h"
#include "base/interrupt.h"

namespace tesla {

template <class T>
using Array = nanobind::ndarray<const T, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;

// For numbers of which every value is sound, and for the arrays of files, which nobody changes.
template <class T>
ArrayView<T> view_of(const Array<T>& array) {
    return {array.data(), array.size()};
}
// For numbers that are checked and then read, such as indices and offsets: Python may change an array at any time. As an argument
// the copy lives until the call ends.
template <class T, class... Shape>
std::vector<T> copied(const nanobind::ndarray<const T, Shape...>& array) {
    return {array.data(), array.data() + array.size()};
}

// Hands a vector over to NumPy without copying; `columns` > 0 makes it a matrix with that many columns.
template <class T, class Memory>
nanobind::object to_numpy(std::vector<T, Memory>&& values, std::size_t columns = 0) {
    using Values = std::vector<T, Memory>;
    auto* owned = new Values(std::move(values));
    nanobind::capsule owner(owned, [](void* p) noexcept { delete static_cast<Values*>(p); });
    if (columns == 0)
        return nanobind::cast(nanobind::ndarray<nanobind::numpy, T>(owned->data(), {owned->size()}, owner));
    std::size_t rows = owned->size() / columns;
    return nanobind::cast(nanobind::ndarray<nanobind::numpy, T>(owned->data(), {rows, columns}, owner));
}

// Calls `work` while other threads of Python may run; it touches no object of Python. A thread that was told to stop begins none.
template <class Work>
auto without_gil(Work&& work) {
    const StopToken* token = watched_stop_token().get();
    if (stop_if_told && token && token->is_stopped()) stop_if_told();
    nanobind::gil_scoped_release release;
    return work();
}

}  // namespace tesla
