// Memory for batches that come and go. Blocks that one batch gives back serve the next one: the system would have to clear
// their pages again, which takes as long as some of the work on them.
#pragma once

#include <cstddef>
#include <memory_resource>
#include <mutex>
#include <vector>

#include "base/fork_safe.h"

namespace tesla {

// Threads share it. Blocks are large: arenas ask for them, not those who live in an arena.
class RecycledMemory : public std::pmr::memory_resource {
   public:
    static RecycledMemory& shared();

   private:
    static constexpr std::size_t kSmallestBits = 16, kClasses = 8;  // blocks of 64 KB to 8 MB; others are not kept
    static constexpr std::size_t kMostKept = std::size_t{32} << 20;

    void* do_allocate(std::size_t bytes, std::size_t alignment) override;
    void do_deallocate(void* block, std::size_t bytes, std::size_t alignment) override;
    bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }

    ForkSafe<std::mutex> mutex_;
    std::vector<void*> free_[kClasses];
    std::size_t kept_ = 0;  // bytes
};

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
