#include "base/large_pages.h"

#include <new>

#include "base/rounding.h"

#if defined(__linux__) && !defined(TESLA_PORTABLE)
#include <sys/mman.h>
#endif

namespace tesla {
namespace {

bool is_large(std::size_t bytes) { return bytes > kLargePage / 2; }

bool is_aligned_anyway(std::size_t alignment) { return alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__; }

}  // namespace

void* allocate_block(std::size_t bytes, std::size_t alignment) {
    if (!is_large(bytes))
        return is_aligned_anyway(alignment) ? ::operator new(bytes) : ::operator new(bytes, std::align_val_t{alignment});
    const std::size_t whole = rounded_up(bytes, kLargePage);
    void* const memory = ::operator new(whole, std::align_val_t{kLargePage});
#if defined(MADV_HUGEPAGE) && !defined(TESLA_PORTABLE)
    madvise(memory, whole, MADV_HUGEPAGE);  // a wish: where it is not granted, nothing is wrong
#endif
    return memory;
}

void free_block(void* memory, std::size_t bytes, std::size_t alignment) noexcept {
    if (!is_large(bytes) && is_aligned_anyway(alignment)) return ::operator delete(memory);
    ::operator delete(memory, std::align_val_t{is_large(bytes) ? kLargePage : alignment});
}

}  // namespace tesla
