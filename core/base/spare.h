// Working memory that outlives a call: the next call does not have to ask for it again.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

namespace tesla {

// Keeps one object that nobody uses at the moment. Many threads may call it at the same time; they never wait.
template <class Work>
class Spare {
   public:
    Spare() = default;
    Spare(const Spare&) = delete;
    Spare& operator=(const Spare&) = delete;
    ~Spare() { delete spare_.load(); }

    // The object that is kept, or else a new one.
    template <class Make>
    std::unique_ptr<Work> take(Make make) {
        std::unique_ptr<Work> work(spare_.exchange(nullptr));
        return work ? std::move(work) : make();
    }
    void keep(std::unique_ptr<Work> work) { delete spare_.exchange(work.release()); }

   private:
    std::atomic<Work*> spare_{nullptr};
};

}  // namespace tesla
