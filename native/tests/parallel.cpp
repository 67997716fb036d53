#include "neardup/parallel.hpp"

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#if !defined(_WIN32)
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

#include "check.hpp"

namespace neardup::tests {

namespace {

void check_every_task_once(std::size_t tasks, std::size_t threads) {
    std::vector<std::atomic<int>> done(tasks);
    std::atomic<bool> ended{true};
    parallel_tasks(tasks, threads, [&](const auto& next) {
        for (std::size_t task = next(); task < tasks; task = next()) ++done[task];
        if (next() != tasks) ended = false;
    });
    CHECK_CASE(ended, tasks);  // the end goes on for ever
    bool once = true;
    for (const std::atomic<int>& times : done) once = once && times == 1;
    CHECK_CASE(once, tasks);
}

void check_failure_arrives(std::size_t threads) {
    std::string message;
    try {
        parallel_tasks(1000, threads, [&](const auto& next) {
            for (std::size_t task = next(); task < 1000; task = next())
                if (task == 17) throw std::runtime_error("seventeen");
        });
    } catch (const std::runtime_error& error) {
        message = error.what();
    }
    CHECK_CASE(message == "seventeen", threads);
}

#if !defined(_WIN32)

// In a process that has room for the stacks of some threads only: each thread stays until the
// calling one works, so that none can take the room of another.
void work_without_room_for_all_threads() {
    const rlimit room{std::size_t{1} << 30, std::size_t{1} << 30};
    if (setrlimit(RLIMIT_AS, &room) != 0) _exit(2);
    const std::size_t tasks = 4096;
    std::vector<std::atomic<int>> done(tasks);
    std::atomic<bool> all_started{false};
    std::atomic<std::size_t> workers{0};
    const std::thread::id caller = std::this_thread::get_id();
    parallel_tasks(tasks, tasks, [&](const auto& next) {
        ++workers;
        if (std::this_thread::get_id() == caller) all_started = true;
        while (!all_started) std::this_thread::yield();
        for (std::size_t task = next(); task < tasks; task = next()) ++done[task];
    });
    bool once = true;
    for (const std::atomic<int>& times : done) once = once && times == 1;
    _exit(once && workers > 1 && workers < tasks ? 0 : 1);
}

void check_fewer_threads_than_asked() {
    const pid_t child = fork();
    if (child == 0) work_without_room_for_all_threads();
    int status = -1;
    waitpid(child, &status, 0);
    CHECK_CASE(WIFEXITED(status) && WEXITSTATUS(status) == 0, status);
}

// Sanitizers reserve terabytes of address space, which no limit allows.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool address_space_is_free = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool address_space_is_free = false;
#else
constexpr bool address_space_is_free = true;
#endif
#else
constexpr bool address_space_is_free = true;
#endif

#endif

}  // namespace

void test_parallel() {
    for (const std::size_t tasks : {0, 1, 2, 3, 100, 5000})
        for (const std::size_t threads : {0, 1, 2, 3, 16}) check_every_task_once(tasks, threads);
    for (const std::size_t threads : {1, 2, 8}) check_failure_arrives(threads);
#if !defined(_WIN32)  // which has no fork and no such limit
    // qemu does not limit the address space, and thousands of threads would start.
    if (address_space_is_free && !quick()) check_fewer_threads_than_asked();
#endif
}

}  // namespace neardup::tests
