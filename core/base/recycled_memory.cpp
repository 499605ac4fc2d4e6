#include "base/recycled_memory.h"

#include "base/large_pages.h"

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

// The number of the smallest class whose blocks are large enough.
std::size_t class_of(std::size_t bytes, std::size_t smallest_bits) {
    std::size_t number = 0;
    while (bytes > std::size_t{1} << (smallest_bits + number)) ++number;
    return number;
}

}  // namespace

RecycledMemory& RecycledMemory::shared() {
    static auto* memory = new RecycledMemory;  // never destroyed: objects of Python may outlive all others
    return *memory;
}

bool RecycledMemory::is_kept(std::size_t number, std::size_t alignment) {
    return !kIsChecked && number < kClasses && alignment <= kLargestAlignment;
}

void* RecycledMemory::do_allocate(std::size_t bytes, std::size_t alignment) {
    const std::size_t number = class_of(bytes, kSmallestBits), size = size_of(number);
    if (!is_kept(number, alignment)) return ::operator new(bytes, std::align_val_t{alignment});
    std::lock_guard lock(mutex_);
    if (FreeBlock* const block = free_[number]) {
        free_[number] = block->next;
        if (size >= kLargePage) kept_ -= size;
        return block;
    }
    return size < kLargePage ? cut_from_page(size) : allocate_large_pages(size, kLargestAlignment);
}

// What is left of the page before is kept for those who need less.
void* RecycledMemory::cut_from_page(std::size_t size) {
    const auto left = [this] { return static_cast<std::size_t>(page_end_ - page_); };
    if (left() < size) {
        char* const fresh = static_cast<char*>(allocate_large_pages(kLargePage, kLargestAlignment));
        for (std::size_t number = kClasses; number-- > 0;)
            for (; left() >= size_of(number); page_ += size_of(number)) put_back(page_, number);
        page_ = fresh;
        page_end_ = fresh + kLargePage;
    }
    page_ += size;
    return page_ - size;
}

void RecycledMemory::do_deallocate(void* block, std::size_t bytes, std::size_t alignment) {
    const std::size_t number = class_of(bytes, kSmallestBits), size = size_of(number);
    if (!is_kept(number, alignment)) return ::operator delete(block, std::align_val_t{alignment});
    {
        std::lock_guard lock(mutex_);
        if (size < kLargePage) return put_back(block, number);
        if (kept_ + size <= kMostKept) {
            kept_ += size;
            return put_back(block, number);
        }
    }
    free_large_pages(block, size, kLargestAlignment);
}

}  // namespace tesla
