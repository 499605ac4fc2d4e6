// Long work asks now and then whether the user wants it to stop.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>

namespace tesla {

// One thread stops the work of others with it. A token that is made in a thread which watches another one ends with that one.
struct StopToken {
    bool is_stopped() const { return stopped.load(std::memory_order_relaxed) || (outer && outer->is_stopped()); }

    std::atomic<bool> stopped{false};
    std::shared_ptr<const StopToken> outer;
};

// The token that the calling thread watches, if any.
inline std::shared_ptr<const StopToken>& watched_stop_token() {
    thread_local std::shared_ptr<const StopToken> token;
    return token;
}

// Throws if the program, or this thread by its token, was told to stop. The bindings say how one knows; without them (in
// tests of the core) nobody asks.
inline void (*stop_if_told)() = nullptr;

// Counts work, and asks every tenth of a second. One object serves one thread.
class Interrupt {
   public:
    // `work` is about so many nanoseconds, or fewer. Looking at the clock takes a hundred, which is why most steps do not.
    void step(std::size_t work = 100) {
        if ((work_ += work) >= kWorkPerLook) look();
    }
    // The same for steps that may take milliseconds.
    void look() {
        work_ = 0;
        const Clock::time_point now = Clock::now();
        if (now < next_) return;
        next_ = now + std::chrono::milliseconds(100);
        // A thread with a token gets no signals: it need not wait for Python until it is told to stop.
        const StopToken* token = watched_stop_token().get();
        if (stop_if_told && (!token || token->is_stopped())) stop_if_told();
    }

   private:
    using Clock = std::chrono::steady_clock;
    static constexpr std::size_t kWorkPerLook = 1 << 16;
    std::size_t work_ = 0;
    Clock::time_point next_{};
};

}  // namespace tesla
