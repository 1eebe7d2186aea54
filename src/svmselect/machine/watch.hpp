// Long loops look up now and then, to see whether the caller wants them to end.
#pragma once

#include <atomic>
#include <chrono>

namespace svmselect {

struct Interrupted {};  // thrown out of a loop that is to end

class Watch {
  public:
    // `wanted` says whether the loop is to end; it is asked ten times a second.
    explicit Watch(bool (*wanted)()) : wanted_(wanted), next_(Clock::now() + PERIOD) {}

    // For a thread that helps: `ended` is set by the one that asks.
    explicit Watch(const std::atomic<bool>* ended) : ended_(ended) {}

    void look() {
        if (ended_ != nullptr) {
            if (ended_->load(std::memory_order_relaxed)) throw Interrupted{};
            return;
        }
        const Clock::time_point now = Clock::now();
        if (now < next_) return;
        if (wanted_()) throw Interrupted{};
        next_ = Clock::now() + PERIOD;
    }

  private:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::milliseconds PERIOD{100};

    bool (*wanted_)() = nullptr;
    const std::atomic<bool>* ended_ = nullptr;
    Clock::time_point next_{};
};

}  // namespace svmselect
