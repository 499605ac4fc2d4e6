// Long work asks now and then whether the user wants it to stop.
#pragma once

#include <chrono>

namespace tesla {

// Throws if the program was told to stop. The bindings say how one knows; without them (in tests of the core) nobody asks.
inline void (*stop_if_told)() = nullptr;

// Counts steps of work, and asks every tenth of a second. One object serves one thread.
class Interrupt {
   public:
    // A step takes a hundred nanoseconds or more; so does looking at the clock, which is why most steps do not.
    void step() {
        if (++steps_ % kStepsPerLook == 0) look();
    }
    // The same for steps that may take milliseconds.
    void look() {
        const Clock::time_point now = Clock::now();
        if (now < next_) return;
        next_ = now + std::chrono::milliseconds(100);
        if (stop_if_told) stop_if_told();
    }

   private:
    using Clock = std::chrono::steady_clock;
    static constexpr unsigned kStepsPerLook = 256;
    unsigned steps_ = 0;
    Clock::time_point next_{};
};

}  // namespace tesla
