// An array that grows without moving its elements, so that readers need no lock.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <utility>

#include "base/recycled_memory.h"

namespace tesla {

// What size() counts is filled.
template <class T>
class StableArray {
   public:
    std::size_t size() const { return size_.load(std::memory_order_acquire); }
    T& operator[](std::size_t i) { return chunks_[i / kChunk][i % kChunk]; }
    const T& operator[](std::size_t i) const { return chunks_[i / kChunk][i % kChunk]; }
    // Room for one more element: where this returns, `append` cannot fail. Callers of both hold the writer's lock.
    void prepare() {
        std::size_t chunk = size() / kChunk;
        if (chunk >= chunks_.size()) throw std::length_error("the vocabulary is full");
        if (chunks_[chunk]) return;
        T* const memory = Recycled<T>().allocate(kChunk);
        std::uninitialized_default_construct_n(memory, kChunk);  // plain data is not cleared: it is filled later
        chunks_[chunk].reset(memory);
    }
    template <class Fill>
    void append(Fill&& fill) {
        std::size_t i = size();
        static_assert(noexcept(fill(std::declval<T&>())), "filling an element must not throw: the array would be left half grown");
        fill((*this)[i]);
        size_.store(i + 1, std::memory_order_release);
    }

   private:
    static constexpr std::size_t kChunk = 4096;
    struct Release {
        void operator()(T* chunk) const {
            std::destroy_n(chunk, kChunk);
            Recycled<T>().deallocate(chunk, kChunk);
        }
    };
    std::array<std::unique_ptr<T[], Release>, 8192> chunks_;
    std::atomic<std::size_t> size_{0};
};

}  // namespace tesla
