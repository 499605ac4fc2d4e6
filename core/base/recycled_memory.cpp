#include "base/recycled_memory.h"

#include <new>

namespace tesla {
namespace {

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

void* RecycledMemory::do_allocate(std::size_t bytes, std::size_t alignment) {
    const std::size_t number = class_of(bytes, kSmallestBits);
    if (number >= kClasses || alignment > alignof(std::max_align_t))
        return ::operator new(bytes, std::align_val_t{alignment});
    const std::size_t size = std::size_t{1} << (kSmallestBits + number);
    {
        std::lock_guard lock(mutex_);
        if (!free_[number].empty()) {
            void* block = free_[number].back();
            free_[number].pop_back();
            kept_ -= size;
            return block;
        }
        // Room for the pointer to every block that may come back: giving memory back must not fail.
        free_[number].reserve(kMostKept / size);
    }
    return ::operator new(size);
}

void RecycledMemory::do_deallocate(void* block, std::size_t bytes, std::size_t alignment) {
    const std::size_t number = class_of(bytes, kSmallestBits);
    if (number >= kClasses || alignment > alignof(std::max_align_t))
        return ::operator delete(block, std::align_val_t{alignment});
    const std::size_t size = std::size_t{1} << (kSmallestBits + number);
    {
        std::lock_guard lock(mutex_);
        if (kept_ + size <= kMostKept) {
            free_[number].push_back(block);
            kept_ += size;
            return;
        }
    }
    ::operator delete(block);
}

}  // namespace tesla
