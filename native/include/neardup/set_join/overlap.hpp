// How many values two ascending lists share.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

namespace neardup {

// Where a merge of two ascending lists stands. Places are numbers, not pointers: compilers make
// branches of the latter, which are mispredicted every other time.
template <typename T>
struct Merge {
    const T *a, *b;
    std::size_t i, i_end, j, j_end;

    std::size_t safe_steps() const { return std::min(i_end - i, j_end - j); }
    bool done() const { return i == i_end || j == j_end; }

    // Whether both are at the same value; go on.
    std::size_t step() {
        const T x = a[i], y = b[j];
        i += x <= y;
        j += y <= x;
        return x == y;
    }
};

// A short list against a long one: a binary search each, in what the last one left.
template <typename T>
std::size_t shared_by_search(const T* few, std::size_t few_count, const T* many,
                             std::size_t many_count) {
    const T* const end = many + many_count;
    std::size_t shared = 0;
    for (std::size_t i = 0; i < few_count; ++i) {
        many = std::lower_bound(many, end, few[i]);
        if (many == end) break;
        const bool hit = *many == few[i];
        shared += hit;
        many += hit;
    }
    return shared;
}

// A merge is a chain of loads and compares, each waiting for the last: four of them, over quarters
// of the lists, run side by side at three times the speed of one. A value that both lists have
// several times counts as often as both have it.
template <typename T>
std::size_t shared_count(const T* a, std::size_t a_count, const T* b, std::size_t b_count) {
    constexpr std::size_t kLanes = 4, kFew = 32, kLopsided = 24;
    if (a_count > kLopsided * b_count) return shared_by_search(b, b_count, a, a_count);
    if (b_count > kLopsided * a_count) return shared_by_search(a, a_count, b, b_count);
    std::size_t shared = 0;
    if (std::min(a_count, b_count) < kFew) {
        Merge<T> merge{a, b, 0, a_count, 0, b_count};
        while (!merge.done()) shared += merge.step();
        return shared;
    }
    std::array<Merge<T>, kLanes> lanes;
    std::size_t i = 0, j = 0;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
        std::size_t i_end = std::max(i, (lane + 1) * a_count / kLanes);
        while (i_end != 0 && i_end < a_count && a[i_end] == a[i_end - 1]) ++i_end;
        const std::size_t j_end =
            i_end == a_count
                ? b_count
                : static_cast<std::size_t>(std::lower_bound(b + j, b + b_count, a[i_end]) - b);
        lanes[lane] = {a, b, i, i_end, j, j_end};
        i = i_end;
        j = j_end;
    }
    const auto safe_steps = [&] {
        std::size_t least = lanes[0].safe_steps();
        for (const Merge<T>& lane : lanes) least = std::min(least, lane.safe_steps());
        return least;
    };
    for (std::size_t steps = safe_steps(); steps != 0; steps = safe_steps()) {
        std::size_t at[kLanes], other[kLanes];
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            at[lane] = lanes[lane].i;
            other[lane] = lanes[lane].j;
        }
        for (std::size_t step = 0; step < steps; ++step)
            for (std::size_t lane = 0; lane < kLanes; ++lane) {
                const T x = a[at[lane]], y = b[other[lane]];
                at[lane] += x <= y;
                other[lane] += y <= x;
            }
        // A step goes on in both lists where it finds a shared value, else in one.
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            shared += (at[lane] - lanes[lane].i) + (other[lane] - lanes[lane].j) - steps;
            lanes[lane].i = at[lane];
            lanes[lane].j = other[lane];
        }
    }
    for (Merge<T>& lane : lanes)
        while (!lane.done()) shared += lane.step();
    return shared;
}

// The same where fewer than `needed` are of no interest: any lower number then. Hashes are in no
// order of their meaning, so that a part of two lists soon tells that they share too few.
template <typename T>
std::size_t shared_if_enough(const T* a, std::size_t a_count, const T* b, std::size_t b_count,
                             double needed) {
    constexpr std::size_t kParts = 8, kLeast = 32;
    const std::size_t step = std::max(a_count / kParts, kLeast);
    std::size_t shared = 0;
    while (a_count != 0 && b_count != 0) {
        if (static_cast<double>(shared + std::min(a_count, b_count)) < needed) return shared;
        const std::size_t i = std::min(step, a_count);
        const auto j = i == a_count
                           ? b_count
                           : static_cast<std::size_t>(std::lower_bound(b, b + b_count, a[i]) - b);
        shared += shared_count(a, i, b, j);
        a += i;
        b += j;
        a_count -= i;
        b_count -= j;
    }
    return shared;
}

}  // namespace neardup
