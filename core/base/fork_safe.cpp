#include "base/fork_safe.h"

#include <new>
#include <shared_mutex>

#ifndef _WIN32
#include <pthread.h>
#endif

namespace tesla {
namespace {

std::shared_mutex& fork_gate() {
    static auto* gate = new std::shared_mutex;  // never destroyed: objects of Python may outlive all others
    return *gate;
}

// Where a fork waits, a second lock on the gate would wait for the fork, and the fork for the first one.
thread_local int locks_held = 0;

}  // namespace

void enter_fork_gate() {
    if (locks_held++ == 0) fork_gate().lock_shared();
}
void leave_fork_gate() {
    if (--locks_held == 0) fork_gate().unlock_shared();
}

void guard_forks() {
    fork_gate();
#ifndef _WIN32
    // The child begins with a new gate: the thread that unlocks must be the one that locked, and the child's has another id.
    pthread_atfork([] { fork_gate().lock(); }, [] { fork_gate().unlock(); }, [] { new (&fork_gate()) std::shared_mutex; });
#endif
}

}  // namespace tesla
