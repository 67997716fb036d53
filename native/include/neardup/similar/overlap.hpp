// How many values two ascending lists share.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

namespace neardup {

// Two ascending lists, or what is left of them.
template <typename T>
struct TwoLists {
    const T *a, *a_end, *b, *b_end;

    std::size_t safe_steps() const {
        return static_cast<std::size_t>(std::min(a_end - a, b_end - b));
    }

    // One step of a merge, without a branch that could be mispredicted: whether both are equal.
    std::size_t step() {
        const T x = *a, y = *b;
        a += x <= y;
        b += y <= x;
        return x == y;
    }
};

// A short list against a long one: a binary search each, in what the last one left.
template <typename T>
std::size_t shared_by_search(TwoLists<T> lists) {
    if (lists.a_end - lists.a > lists.b_end - lists.b)
        lists = {lists.b, lists.b_end, lists.a, lists.a_end};
    std::size_t shared = 0;
    for (; lists.a != lists.a_end; ++lists.a) {
        lists.b = std::lower_bound(lists.b, lists.b_end, *lists.a);
        if (lists.b == lists.b_end) break;
        shared += *lists.b == *lists.a;
    }
    return shared;
}

// A merge is a chain of loads and compares, each waiting for the last: four of them, over quarters
// of the lists, run side by side at 2.5 times the speed of one.
template <typename T>
std::size_t shared_count(const T* a, std::size_t a_count, const T* b, std::size_t b_count) {
    constexpr std::size_t kLanes = 4, kFew = 32, kLopsided = 24;
    TwoLists<T> rest{a, a + a_count, b, b + b_count};
    if (a_count == 0 || b_count == 0) return 0;
    if (a_count > kLopsided * b_count || b_count > kLopsided * a_count)
        return shared_by_search(rest);
    std::size_t shared = 0;
    if (a_count >= kFew && b_count >= kFew) {
        std::array<TwoLists<T>, kLanes> lanes;
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            lanes[lane].a = a + lane * a_count / kLanes;
            lanes[lane].b = lane == 0 ? b : std::lower_bound(b, rest.b_end, *lanes[lane].a);
        }
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            const bool last = lane + 1 == kLanes;
            lanes[lane].a_end = last ? rest.a_end : lanes[lane + 1].a;
            lanes[lane].b_end = last ? rest.b_end : lanes[lane + 1].b;
        }
        const auto safe = [&] {
            return std::min(std::min(lanes[0].safe_steps(), lanes[1].safe_steps()),
                            std::min(lanes[2].safe_steps(), lanes[3].safe_steps()));
        };
        for (std::size_t steps = safe(); steps != 0; steps = safe())
            for (; steps != 0; --steps)
                for (TwoLists<T>& lane : lanes) shared += lane.step();
        for (TwoLists<T>& lane : lanes)
            while (lane.a != lane.a_end && lane.b != lane.b_end) shared += lane.step();
        return shared;
    }
    while (rest.a != rest.a_end && rest.b != rest.b_end) shared += rest.step();
    return shared;
}

}  // namespace neardup
