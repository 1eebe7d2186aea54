// The same work for each of several items, on threads; who does an item does not matter to it.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "list.hpp"
#include "watch.hpp"

namespace svmselect {

// work(i, watch) for each i below `count`. The calling thread works too, and is the one that looks
// for signals; what one thread throws ends all, and is thrown here.
template <typename Work>
void side_by_side(Index count, Index threads, Watch& watch, const Work& work) {
    std::atomic<Index> next{0};
    const auto go_on = [&](Watch& own) {
        for (Index i = next++; i < count; i = next++) work(i, own);
    };
    const Index helpers = std::min(threads, count) - 1;
    if (helpers <= 0) {
        go_on(watch);
        return;
    }
    std::atomic<bool> ended{false};
    std::mutex lock;
    std::condition_variable done;
    std::exception_ptr failure;
    Index busy = helpers;
    const auto fail = [&] {
        ended = true;
        const std::lock_guard<std::mutex> held(lock);
        if (!failure) failure = std::current_exception();
    };
    List<std::thread> team;
    for (Index t = 0; t < helpers; ++t)
        team.emplace_back([&] {
            Watch own(&ended);
            try {
                go_on(own);
            } catch (const Interrupted&) {  // the cause is known where it arose
            } catch (...) {
                fail();
            }
            const std::lock_guard<std::mutex> held(lock);
            if (--busy == 0) done.notify_one();
        });
    try {
        go_on(watch);
        std::unique_lock<std::mutex> held(lock);
        while (busy > 0) {
            done.wait_for(held, std::chrono::milliseconds(50));
            held.unlock();
            watch.look();
            held.lock();
        }
    } catch (...) {
        fail();
    }
    for (std::thread& helper : team) helper.join();
    if (failure) std::rethrow_exception(failure);
}

}  // namespace svmselect
