// Long loops look up now and then, to see whether the caller wants them to end.
#pragma once

#include <chrono>

namespace svmselect {

struct Interrupted {};  // thrown out of a loop that is to end

class Watch {
  public:
    // `wanted` says whether the loop is to end; it is asked ten times a second.
    explicit Watch(bool (*wanted)()) : wanted_(wanted), next_(Clock::now() + PERIOD) {}

    void look() {
        const Clock::time_point now = Clock::now();
        if (now < next_) return;
        if (wanted_()) throw Interrupted{};
        next_ = Clock::now() + PERIOD;
    }

  private:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::milliseconds PERIOD{100};

    bool (*wanted_)();
    Clock::time_point next_;
};

}  // namespace svmselect
