#include "neardup/parallel.hpp"

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

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

}  // namespace

void test_parallel() {
    for (const std::size_t tasks : {0, 1, 2, 3, 100, 5000})
        for (const std::size_t threads : {0, 1, 2, 3, 16}) check_every_task_once(tasks, threads);
    for (const std::size_t threads : {1, 2, 8}) check_failure_arrives(threads);
}

}  // namespace neardup::tests
