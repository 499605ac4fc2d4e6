#include "base/recycled_memory.h"

#include <algorithm>

namespace tesla {
namespace {

// The address sanitizer sees what is wrong with a block only where nobody else gets it.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kIsChecked = true;
#elif defined(__has_feature)
constexpr bool kIsChecked = __has_feature(address_sanitizer);
#else
constexpr bool kIsChecked = false;
#endif

// Blocks have few sizes, four from each power of two to the next: another who needs about as much gets the same size. Other
// numbers of units are rounded up or down to a size.
std::size_t step_of(std::size_t units) {
    std::size_t step = 1;
    while (units > 8 * step) step *= 2;
    return step;
}
std::size_t rounded_up(std::size_t units) {
    const std::size_t step = step_of(units);
    return (units + step - 1) / step * step;
}
std::size_t rounded_down(std::size_t units) { return units / step_of(units) * step_of(units); }

}  // namespace

RecycledMemory& RecycledMemory::shared() {
    static auto* memory = new RecycledMemory;  // never destroyed: objects of Python may outlive all others
    return *memory;
}

std::size_t RecycledMemory::units_for(std::size_t bytes) { return rounded_up(std::max<std::size_t>((bytes + kUnit - 1) / kUnit, 1)); }

bool RecycledMemory::is_kept(std::size_t units, std::size_t alignment) {
    return !kIsChecked && units <= kMostUnits && alignment <= kLargestAlignment;
}

void* RecycledMemory::do_allocate(std::size_t bytes, std::size_t alignment) {
    const std::size_t units = units_for(bytes), size = units * kUnit;
    if (!is_kept(units, alignment)) return allocate_large_pages(bytes, alignment);
    std::lock_guard lock(mutex_);
    if (FreeBlock* const block = free_[units]) {
        free_[units] = block->next;
        if (size >= kLargePage) kept_ -= size;
        return block;
    }
    return size < kLargePage ? cut_from_page(units) : allocate_large_pages(size, kLargestAlignment);
}

// What is left of the page before is kept for those who need less.
void* RecycledMemory::cut_from_page(std::size_t units) {
    const auto left = [this] { return static_cast<std::size_t>(page_end_ - page_) / kUnit; };
    if (left() < units) {
        char* const fresh = static_cast<char*>(allocate_large_pages(kLargePage, kLargestAlignment));
        while (left() > 0) {
            const std::size_t rest = rounded_down(left());
            put_back(page_, rest);
            page_ += rest * kUnit;
        }
        page_ = fresh;
        page_end_ = fresh + kLargePage;
    }
    page_ += units * kUnit;
    return page_ - units * kUnit;
}

void RecycledMemory::do_deallocate(void* block, std::size_t bytes, std::size_t alignment) {
    const std::size_t units = units_for(bytes), size = units * kUnit;
    if (!is_kept(units, alignment)) return free_large_pages(block, bytes, alignment);
    {
        std::lock_guard lock(mutex_);
        if (size < kLargePage) return put_back(block, units);
        if (kept_ + size <= kMostKept) {
            kept_ += size;
            return put_back(block, units);
        }
    }
    free_large_pages(block, size, kLargestAlignment);
}

}  // namespace tesla
