#include "base/fork_safe.h"

#include <new>

#ifndef _WIN32
#include <pthread.h>
#endif

namespace tesla {

std::shared_mutex& fork_gate() {
    static auto* gate = new std::shared_mutex;  // never destroyed: objects of Python may outlive all others
    return *gate;
}

void guard_forks() {
    fork_gate();
#ifndef _WIN32
    // The child begins with a new gate: the thread that unlocks must be the one that locked, and the child's has another id.
    pthread_atfork([] { fork_gate().lock(); }, [] { fork_gate().unlock(); }, [] { new (&fork_gate()) std::shared_mutex; });
#endif
}

}  // namespace tesla
