#include "base/recycled_memory.h"

#include <algorithm>
#include <utility>

#include "base/rounding.h"

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
std::size_t size_from(std::size_t units) { return rounded_up(units, step_of(units)); }
std::size_t size_up_to(std::size_t units) { return units / step_of(units) * step_of(units); }

}  // namespace

RecycledMemory& RecycledMemory::shared() {
    static auto* memory = new RecycledMemory;  // never destroyed: objects of Python may outlive all others
    return *memory;
}

std::size_t RecycledMemory::units_for(std::size_t bytes) { return size_from(std::max<std::size_t>(units_of(bytes, kUnit), 1)); }

bool RecycledMemory::is_kept(std::size_t units, std::size_t alignment) {
    return !kIsChecked && units <= kMostUnits && alignment <= kLargestAlignment;
}

void* RecycledMemory::do_allocate(std::size_t bytes, std::size_t alignment) {
    const std::size_t units = units_for(bytes), size = units * kUnit;
    if (!is_kept(units, alignment)) return allocate_block(bytes, alignment);
    std::lock_guard lock(mutex_);
    if (FreeBlock* const block = free_[units]) {
        free_[units] = block->next;
        if (size >= kLargePage) kept_ -= size;
        return block;
    }
    return size < kLargePage ? cut_from_page(units) : allocate_block(size, kLargestAlignment);
}

// From the page that has the least left, if it is enough.
void* RecycledMemory::cut_from_page(std::size_t units) {
    const std::size_t size = units * kUnit;
    Rest* best = nullptr;
    for (Rest& rest : rests_)
        if (rest.size >= size && (!best || rest.size < best->size)) best = &rest;
    if (!best) {
        Rest& least = *std::min_element(rests_.begin(), rests_.end(), [](const Rest& a, const Rest& b) { return a.size < b.size; });
        char* const fresh = static_cast<char*>(allocate_block(kLargePage, kLargestAlignment));
        keep_rest(least);
        least = {fresh, kLargePage};
        best = &least;
    }
    best->size -= size;
    return std::exchange(best->start, best->start + size);
}

// As blocks for those who need less.
void RecycledMemory::keep_rest(Rest& rest) {
    while (rest.size > 0) {
        const std::size_t units = size_up_to(rest.size / kUnit);
        put_back(rest.start, units);
        rest = {rest.start + units * kUnit, rest.size - units * kUnit};
    }
}

void RecycledMemory::do_deallocate(void* block, std::size_t bytes, std::size_t alignment) {
    const std::size_t units = units_for(bytes), size = units * kUnit;
    if (!is_kept(units, alignment)) return free_block(block, bytes, alignment);
    {
        std::lock_guard lock(mutex_);
        if (size < kLargePage) return put_back(block, units);
        if (kept_ + size <= kMostKept) {
            kept_ += size;
            return put_back(block, units);
        }
    }
    free_block(block, size, kLargestAlignment);
}

}  // namespace tesla
