// Locks that a forked child can rely on. A child has only the thread that forked: a lock that another thread held at that
// moment would stay locked for ever, and what it guards half-changed.
#pragma once

#include "base/portable.h"

namespace tesla {

// A thread that holds locks is within the gate, and a fork waits until no thread is. A thread may enter it again.
void enter_fork_gate();
void leave_fork_gate();
// From now on a fork waits until no thread holds a lock. Locks are held for microseconds, and never while Python is asked.
void guard_forks();

// A thread that waits looks again for ten to thirty microseconds before it sleeps: to wake it takes longer than most locks are held.
template <class Mutex>
class ForkSafe {
   public:
    void lock() {
        enter_fork_gate();
        if (!is_soon_true([this] { return mutex_.try_lock(); })) mutex_.lock();
    }
    void unlock() {
        mutex_.unlock();
        leave_fork_gate();
    }
    void lock_shared() {
        enter_fork_gate();
        if (!is_soon_true([this] { return mutex_.try_lock_shared(); })) mutex_.lock_shared();
    }
    void unlock_shared() {
        mutex_.unlock_shared();
        leave_fork_gate();
    }

   private:
    template <class Try>
    static bool is_soon_true(Try&& try_lock) {
        constexpr int kLooks = 64, kMomentsBetween = 8;
        for (int look = 0; look < kLooks; ++look) {
            if (try_lock()) return true;
            for (int moment = 0; moment < kMomentsBetween; ++moment) wait_a_moment();
        }
        return false;
    }

    Mutex mutex_;
};

}  // namespace tesla
