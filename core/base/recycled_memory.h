// Memory for batches that come and go, and for tables that grow. Blocks that are given back serve the next one who asks: the
// system would have to clear their pages again, which takes as long as some of the work on them. Small blocks are cut out of
// large pages, since every page that is touched for the first time stops the program, however large it is.
#pragma once

#include <array>
#include <cstddef>
#include <memory_resource>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "base/fork_safe.h"
#include "base/large_pages.h"

namespace tesla {

// Threads share it. Blocks are large: arenas, growing tables and the arrays of whole batches ask for them.
class RecycledMemory : public std::pmr::memory_resource {
   public:
    static RecycledMemory& shared();

   private:
    static constexpr std::size_t kUnit = std::size_t{1} << 16, kMostUnits = 128;  // bytes; of a block: larger ones are not kept
    static constexpr std::size_t kMostKept = std::size_t{32} << 20;               // bytes in blocks of whole pages
    static constexpr std::size_t kLargestAlignment = 64;
    struct FreeBlock {
        FreeBlock* next;
    };

    struct Rest {  // of a page
        char* start = nullptr;
        std::size_t size = 0;
    };

    static std::size_t units_for(std::size_t bytes);
    static bool is_kept(std::size_t units, std::size_t alignment);
    void* cut_from_page(std::size_t units);
    void keep_rest(Rest& rest);
    void put_back(void* block, std::size_t units) { free_[units] = new (block) FreeBlock{free_[units]}; }
    void* do_allocate(std::size_t bytes, std::size_t alignment) override;
    void do_deallocate(void* block, std::size_t bytes, std::size_t alignment) override;
    bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }

    ForkSafe<std::mutex> mutex_;
    FreeBlock* free_[kMostUnits + 1] = {};  // by size; blocks are not split again, so that all sizes stay
    std::size_t kept_ = 0;                  // bytes in blocks of whole pages
    std::array<Rest, 4> rests_;             // of the pages that smaller blocks are cut out of
};

// The allocator of containers that may be large; where they are small, their memory comes from the heap.
template <class T>
struct Recycled {
    using value_type = T;

    Recycled() = default;
    template <class Other>
    Recycled(const Recycled<Other>&) {}

    T* allocate(std::size_t count) {
        const std::size_t bytes = count * sizeof(T);
        return static_cast<T*>(is_small(bytes) ? allocate_block(bytes, alignof(T))
                                               : RecycledMemory::shared().allocate(bytes, alignof(T)));
    }
    void deallocate(T* memory, std::size_t count) noexcept {
        const std::size_t bytes = count * sizeof(T);
        is_small(bytes) ? free_block(memory, bytes, alignof(T))
                        : RecycledMemory::shared().deallocate(memory, bytes, alignof(T));
    }
    bool operator==(const Recycled&) const { return true; }
    bool operator!=(const Recycled&) const { return false; }

   private:
    static bool is_small(std::size_t bytes) { return bytes <= std::size_t{1} << 15; }
};

// The same for arrays that are filled after they are made: new elements are not cleared.
template <class T>
struct Uncleared : Recycled<T> {
    template <class Other>
    struct rebind {
        using other = Uncleared<Other>;
    };

    Uncleared() = default;
    template <class Other>
    Uncleared(const Uncleared<Other>&) {}

    template <class Other>
    void construct(Other* place) {
        ::new (static_cast<void*>(place)) Other;
    }
    template <class Other, class... Arguments>
    void construct(Other* place, Arguments&&... arguments) {
        ::new (static_cast<void*>(place)) Other(std::forward<Arguments>(arguments)...);
    }
};

// An array of a whole batch.
template <class T>
using BatchArray = std::vector<T, Uncleared<T>>;

// The arena of one batch: what lives in it is given back all at once.
class Arena : public std::pmr::monotonic_buffer_resource {
   public:
    Arena() : monotonic_buffer_resource(std::size_t{1} << 16, &RecycledMemory::shared()) {}
};

// An arena that is emptied again and again: its first block stays.
class ReusedArena {
   public:
    ReusedArena() = default;
    ReusedArena(const ReusedArena&) = delete;
    ReusedArena& operator=(const ReusedArena&) = delete;
    ~ReusedArena() {
        memory_.release();
        RecycledMemory::shared().deallocate(first_, kFirstBlock);
    }
    std::pmr::memory_resource* memory() { return &memory_; }
    void empty() { memory_.release(); }

   private:
    static constexpr std::size_t kFirstBlock = std::size_t{1} << 16;

    void* first_ = RecycledMemory::shared().allocate(kFirstBlock);
    std::pmr::monotonic_buffer_resource memory_{first_, kFirstBlock, &RecycledMemory::shared()};
};

}  // namespace tesla
