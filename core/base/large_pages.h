// Memory in large pages, for tables that are read all over: the machine finds their pages faster, and a page that is touched for
// the first time stops the program, however large it is. Where a system has no large pages, it is memory like any other.
#pragma once

#include <cstddef>

namespace tesla {

inline constexpr std::size_t kLargePage = std::size_t{2} << 20;  // bytes

// Blocks of more than half a large page lie in large pages, smaller ones on the heap. Throws std::bad_alloc.
void* allocate_block(std::size_t bytes, std::size_t alignment);
void free_block(void* memory, std::size_t bytes, std::size_t alignment) noexcept;

}  // namespace tesla
