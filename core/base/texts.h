// Texts of Python as the core reads them.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <string_view>
#include <vector>

namespace tesla {

// The texts' own UTF-8, valid while the list keeps its strings.
inline std::vector<std::string_view> utf8_views(const nanobind::list& texts) {
    std::vector<std::string_view> views;
    views.reserve(nanobind::len(texts));
    for (nanobind::handle text : texts) {
        Py_ssize_t size = 0;
        const char* data = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
        if (!data) throw nanobind::python_error();
        views.emplace_back(data, static_cast<std::size_t>(size));
    }
    return views;
}

}  // namespace tesla
