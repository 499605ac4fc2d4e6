// Memory in large pages, for tables that are read all over: the machine finds their pages faster, and a page that is touched for
// the first time stops the program, however large it is. Where a system has no large pages, it is memory like any other.
#pragma once

#include <cstddef>

namespace tesla {

inline constexpr std::size_t kLargePage = std::size_t{2} << 20;  // bytes

// Small amounts come from the heap. Throws std::bad_alloc.
void* allocate_large_pages(std::size_t bytes, std::size_t alignment);
void free_large_pages(void* memory, std::size_t bytes, std::size_t alignment) noexcept;

}  // namespace tesla
