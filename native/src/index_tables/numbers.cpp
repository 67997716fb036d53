#include "neardup/index_tables/numbers.hpp"

#include <bit>
#include <utility>

namespace neardup {

bool NumberSet::insert(std::uint64_t number) {
    if (4 * (pages_ + 1) > 3 * slots_.size()) grow();
    Slot& slot = slot_of(number / 64 + 1);
    const std::uint64_t bit = std::uint64_t{1} << number % 64;
    if (slot.page == 0) {
        slot = {number / 64 + 1, 0};
        ++pages_;
    }
    if (slot.bits & bit) return false;
    slot.bits |= bit;
    ++size_;
    return true;
}

bool NumberSet::erase(std::uint64_t number) {
    if (slots_.empty()) return false;
    Slot& slot = slot_of(number / 64 + 1);
    const std::uint64_t bit = std::uint64_t{1} << number % 64;
    if (slot.page == 0 || (slot.bits & bit) == 0) return false;
    slot.bits &= ~bit;  // an empty page stays until the table grows
    --size_;
    return true;
}

NumberSet::Slot& NumberSet::slot_of(std::uint64_t page) {
    const std::size_t last = slots_.size() - 1;
    std::size_t at = page * 0x9E3779B97F4A7C15ULL >> (64 - std::countr_zero(slots_.size()));
    while (slots_[at].page != 0 && slots_[at].page != page) at = (at + 1) & last;
    return slots_[at];
}

void NumberSet::grow() {
    std::vector<Slot> old = std::move(slots_);
    std::size_t used = 0;
    for (const Slot& slot : old) used += slot.bits != 0 ? 1 : 0;
    slots_ = std::vector<Slot>(std::bit_ceil(2 * used + 8));
    pages_ = used;
    for (const Slot& slot : old)
        if (slot.bits != 0) slot_of(slot.page) = slot;
}

void SortedNumbers::add(std::uint64_t number) {
    ++size_;
    if (runs_.empty()) {
        runs_.push_back({number});
        return;
    }
    const std::size_t at = std::min(run_of(number), runs_.size() - 1);
    std::vector<std::uint64_t>& run = runs_[at];
    if (run.size() < kMostInRun) {
        run.insert(std::lower_bound(run.begin(), run.end(), number), number);
        return;
    }
    // Numbers mostly ascend, so a full last run stays full.
    if (at + 1 == runs_.size() && number > run.back()) {
        runs_.push_back({number});
        return;
    }
    const auto middle = run.begin() + kMostInRun / 2;
    std::vector<std::uint64_t> upper(middle, run.end());
    run.erase(middle, run.end());
    std::vector<std::uint64_t>& into = number < upper.front() ? run : upper;
    into.insert(std::lower_bound(into.begin(), into.end(), number), number);
    runs_.insert(runs_.begin() + static_cast<std::ptrdiff_t>(at) + 1, std::move(upper));
}

bool SortedNumbers::remove(std::uint64_t number) {
    const std::size_t at = run_of(number);
    if (at == runs_.size()) return false;
    std::vector<std::uint64_t>& run = runs_[at];
    const auto place = std::lower_bound(run.begin(), run.end(), number);
    if (*place != number) return false;
    run.erase(place);
    if (run.empty()) runs_.erase(runs_.begin() + static_cast<std::ptrdiff_t>(at));
    --size_;
    return true;
}

std::size_t SortedNumbers::bytes() const {
    std::size_t sum = runs_.capacity() * sizeof(runs_[0]);
    for (const std::vector<std::uint64_t>& run : runs_) sum += run.capacity() * sizeof(run[0]);
    return sum;
}

std::size_t SortedNumbers::run_of(std::uint64_t number) const {
    const auto run = std::partition_point(
        runs_.begin(), runs_.end(),
        [&](const std::vector<std::uint64_t>& one) { return one.back() < number; });
    return static_cast<std::size_t>(run - runs_.begin());
}

}  // namespace neardup
