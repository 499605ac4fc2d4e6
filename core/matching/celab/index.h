#pragma once

#include <cstddef>
#include <cstdint>

namespace tesla::celab {

// Numbers of types, spans and rows are signed, so that -1 can say "none"; vectors want them unsigned.
inline std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }
inline std::int32_t number(std::size_t i) { return static_cast<std::int32_t>(i); }

// Neighbouring elements of a vector.
template <class T>
struct Range {
    const T *first, *last;
    const T* begin() const { return first; }
    const T* end() const { return last; }
    std::size_t size() const { return static_cast<std::size_t>(last - first); }
    const T& operator[](std::size_t i) const { return first[i]; }
};

}  // namespace tesla::celab
