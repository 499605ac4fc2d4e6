// Texts of Python as the core reads them.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <string_view>
#include <vector>

#include "base/portable.h"
#include "base/unicode.h"

namespace tesla {

// The UTF-8 of a string, for as long as the string lives.
inline std::string_view utf8_of(nanobind::handle text) {
    Py_ssize_t size = 0;
    const char* data = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
    if (!data) throw nanobind::python_error();
    return {data, static_cast<std::size_t>(size)};
}

// The UTF-8 of the strings of a list or another sequence. A tuple of our own keeps the strings: other threads may change the
// list while the GIL is released. Made and destroyed under the GIL, so it is declared before the GIL is released.
class HeldTexts {
   public:
    // With `surrogates` lone ones are encoded as if they were characters; else they are an error.
    explicit HeldTexts(nanobind::handle texts, bool surrogates = false)
        : held_(nanobind::steal<nanobind::tuple>(PySequence_Tuple(texts.ptr()))) {
        if (!held_.is_valid()) throw nanobind::python_error();
        views_.reserve(nanobind::len(held_));
        for (nanobind::handle text : held_) views_.push_back(surrogates ? any_utf8_of(text) : utf8_of(text));
    }
    const std::vector<std::string_view>& views() const { return views_; }
    const nanobind::tuple& objects() const { return held_; }

   private:
    std::string_view any_utf8_of(nanobind::handle text) {
        Py_ssize_t size = 0;
        if (const char* data = PyUnicode_AsUTF8AndSize(text.ptr(), &size)) return {data, static_cast<std::size_t>(size)};
        if (!PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) throw nanobind::python_error();
        PyErr_Clear();
        const auto bytes = nanobind::steal<nanobind::bytes>(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogatepass"));
        if (!bytes.is_valid()) throw nanobind::python_error();
        encoded_.push_back(bytes);
        return {bytes.c_str(), bytes.size()};
    }

    nanobind::tuple held_;
    std::vector<nanobind::bytes> encoded_;  // of texts with surrogates
    std::vector<std::string_view> views_;
};

// A text in NFC: `compose` is asked for one with a character that another one may combine with.
inline nanobind::object composed_text(nanobind::handle text, const nanobind::callable& compose) {
    return may_compose(utf8_of(text)) ? compose(text) : nanobind::borrow(text);
}

// Texts in NFC, as a tuple.
inline nanobind::tuple composed(nanobind::handle texts, const nanobind::callable& compose) {
    const auto given = nanobind::steal<nanobind::tuple>(PySequence_Tuple(texts.ptr()));
    if (!given.is_valid()) throw nanobind::python_error();
    std::vector<std::size_t> asked;
    for (std::size_t i = 0, size = nanobind::len(given); i < size; ++i)
        if (may_compose(utf8_of(given[i]))) asked.push_back(i);
    if (asked.empty()) return given;
    nanobind::list out(given);
    for (std::size_t i : asked) out[i] = compose(given[i]);
    return nanobind::tuple(out);
}

// Names of the core's columns.
template <class Names>
nanobind::tuple to_tuple(const Names& names) {
    nanobind::list listed;
    for (const char* name : names) listed.append(name);
    return nanobind::tuple(listed);
}

// The types of what a list holds. The objects may lie anywhere: memory is asked for them some steps ahead.
inline nanobind::set types_in(const nanobind::list& objects) {
    constexpr Py_ssize_t kAhead = 16;
    std::vector<nanobind::object> changes;  // put into the set at the end: a type may run code of its own when it is hashed
    {
        const nanobind::ft_object_guard guard(objects);  // without the GIL another thread could change the list
        for (Py_ssize_t i = 0, size = PyList_Size(objects.ptr()); i < size; ++i) {
            if (i + kAhead < size) prefetch_memory(PyList_GetItem(objects.ptr(), i + kAhead));
            nanobind::handle type(reinterpret_cast<PyObject*>(Py_TYPE(PyList_GetItem(objects.ptr(), i))));
            if (changes.empty() || !changes.back().is(type)) changes.push_back(nanobind::borrow(type));
        }
    }
    nanobind::set types;
    for (const nanobind::object& type : changes) types.add(type);
    return types;
}

}  // namespace tesla
