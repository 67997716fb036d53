// A range of tasks, taken one by one by several threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

namespace neardup {

// Call work(next) on up to `threads` threads, the calling one among them. `next` hands out the
// tasks 0 … tasks - 1, and after those always `tasks`. The threads live for this call only:
// starting one costs about 20 microseconds, and a pool that outlives the call would not survive a
// fork. If the system refuses to start a thread, the running ones do all the tasks.
template <typename Work>
void parallel_tasks(std::size_t tasks, std::size_t threads, const Work& work) {
    std::atomic<std::size_t> taken{0};
    std::exception_ptr failure;
    std::mutex failure_lock;
    const auto next = [&]() -> std::size_t {
        const std::size_t task = taken.fetch_add(1, std::memory_order_relaxed);
        return task < tasks ? task : tasks;
    };
    const auto guarded = [&] {
        try {
            work(next);
        } catch (...) {
            taken.store(tasks, std::memory_order_relaxed);
            const std::lock_guard<std::mutex> hold(failure_lock);
            failure = std::current_exception();
        }
    };
    std::vector<std::thread> others;
    try {
        for (std::size_t i = 1; i < threads && i < tasks; ++i) others.emplace_back(guarded);
    } catch (const std::system_error&) {  // a limit on processes, or no room for a stack
    } catch (const std::bad_alloc&) {
    }
    guarded();
    for (std::thread& other : others) other.join();
    if (failure) std::rethrow_exception(failure);
}

}  // namespace neardup
