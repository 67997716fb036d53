// The sum of doubles, rounded once: the same in any order, and the same as Python's math.fsum.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace neardup {

// A sum and what its rounding lost, added in plain floating point.
struct CompensatedSum {
    double sum = 0, lost = 0;

    void add(double value) {
        const double total = sum + value;
        const double added = total - sum;
        lost += (sum - (total - added)) + (value - added);
        sum = total;
    }
};

// Exact, by partial sums that do not overlap (Shewchuk 1997), of any finite values.
inline double slow_exact_sum(const double* values, std::size_t count) {
    std::vector<double> partials;
    for (std::size_t i = 0; i < count; ++i) {
        double x = values[i];
        std::size_t kept = 0;
        for (double y : partials) {
            if (std::fabs(x) < std::fabs(y)) std::swap(x, y);
            const double high = x + y, low = y - (high - x);
            if (low != 0) partials[kept++] = low;
            x = high;
        }
        partials.resize(kept);
        partials.push_back(x);
    }
    double high = 0, low = 0;
    std::size_t left = partials.size();
    while (left != 0 && low == 0) {
        const double x = high, y = partials[--left];
        high = x + y;
        low = y - (high - x);
    }
    // Half-way between two doubles, what is left decides.
    if (left != 0 && ((low < 0 && partials[left - 1] < 0) || (low > 0 && partials[left - 1] > 0))) {
        const double twice = low * 2, next = high + twice;
        if (twice == next - high) high = next;
    }
    return high;
}

// Exact, of values that are 0 or more: quick wherever a bound on the error settles the rounding.
inline double exact_sum(const double* values, std::size_t count) {
    std::array<CompensatedSum, 4> lanes;
    std::size_t i = 0;
    for (; i + 4 <= count; i += 4)
        for (std::size_t lane = 0; lane < 4; ++lane) lanes[lane].add(values[i + lane]);
    for (; i < count; ++i) lanes[0].add(values[i]);
    CompensatedSum all = lanes[0];
    for (std::size_t lane = 1; lane < 4; ++lane) {
        all.add(lanes[lane].sum);
        all.lost += lanes[lane].lost;
    }
    // Each of n + 3 additions loses at most 2^-53 of the sum, and so does each addition of losses,
    // of at most n 2^-53 of the sum; twice that, for the arithmetic of the bound itself.
    const double most = static_cast<double>(count) + 8;
    const double error = most * most * 0x1p-105 * all.sum;
    const double low = all.sum + (all.lost - error), high = all.sum + (all.lost + error);
    return low == high ? low : slow_exact_sum(values, count);
}

}  // namespace neardup
