// Locks that a forked child can rely on. A child has only the thread that forked: a lock that another thread held at that
// moment would stay locked for ever, and what it guards half-changed.
#pragma once

namespace tesla {

// A thread that holds locks is within the gate, and a fork waits until no thread is. A thread may enter it again.
void enter_fork_gate();
void leave_fork_gate();
// From now on a fork waits until no thread holds a lock. Locks are held for microseconds, and never while Python is asked.
void guard_forks();

template <class Mutex>
class ForkSafe {
   public:
    void lock() {
        enter_fork_gate();
        mutex_.lock();
    }
    void unlock() {
        mutex_.unlock();
        leave_fork_gate();
    }
    void lock_shared() {
        enter_fork_gate();
        mutex_.lock_shared();
    }
    void unlock_shared() {
        mutex_.unlock_shared();
        leave_fork_gate();
    }

   private:
    Mutex mutex_;
};

}  // namespace tesla
