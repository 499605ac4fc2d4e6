// Memory in large pages, for tables that are read all over: the machine finds their pages faster, and a page that is touched for
// the first time stops the program, however large it is. Where a system has no large pages, it is memory like any other.
#pragma once

#include <cstddef>

namespace tesla {

inline constexpr std::size_t kLargePage = std::size_t{2} << 20;  // bytes

// Small amounts come from the heap. Throws std::bad_alloc.
void* allocate_large_pages(std::size_t bytes, std::size_t alignment);
void free_large_pages(void* memory, std::size_t bytes, std::size_t alignment) noexcept;

// The allocator of containers.
template <class T>
struct LargePages {
    using value_type = T;

    LargePages() = default;
    template <class Other>
    LargePages(const LargePages<Other>&) {}

    T* allocate(std::size_t count) { return static_cast<T*>(allocate_large_pages(count * sizeof(T), alignof(T))); }
    void deallocate(T* memory, std::size_t count) noexcept { free_large_pages(memory, count * sizeof(T), alignof(T)); }
    bool operator==(const LargePages&) const { return true; }
    bool operator!=(const LargePages&) const { return false; }
};

}  // namespace tesla
