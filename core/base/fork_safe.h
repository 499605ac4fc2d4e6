// Locks that a forked child can rely on. A child has only the thread that forked: a lock that another thread held at that
// moment would stay locked for ever, and what it guards half-changed.
#pragma once

#include <shared_mutex>

namespace tesla {

// Held by every thread that holds a lock, and by a fork alone.
std::shared_mutex& fork_gate();
// From now on a fork waits until no thread holds a lock. Locks are held for microseconds, and never while Python is asked.
void guard_forks();

template <class Mutex>
class ForkSafe {
   public:
    void lock() {
        fork_gate().lock_shared();
        mutex_.lock();
    }
    void unlock() {
        mutex_.unlock();
        fork_gate().unlock_shared();
    }
    void lock_shared() {
        fork_gate().lock_shared();
        mutex_.lock_shared();
    }
    void unlock_shared() {
        mutex_.unlock_shared();
        fork_gate().unlock_shared();
    }

   private:
    Mutex mutex_;
};

}  // namespace tesla
