#include <algorithm>

#include "neardup/index_tables/groups.hpp"

namespace neardup {

Groups::Joined Groups::join(std::uint64_t number, const std::uint64_t* row, std::uint64_t hash) {
    const std::uint32_t known = find(row, hash);
    if (known != kNoGroup) {
        add_member(*members_.at(known), number);
        return {known, false};
    }
    if (index_.full()) grow_index();
    const std::uint32_t group = make(row);
    *members_.at(group) = kEmpty;
    add_member(*members_.at(group), number);
    index_.insert(hash, group);
    return {group, true};
}

std::uint32_t Groups::find(const std::uint64_t* row, std::uint64_t hash) const {
    return index_.find(
        hash, [&](std::uint32_t group) { return std::equal(row, row + limbs_, rows_.at(group)); });
}

bool Groups::leave(std::uint32_t group, std::uint64_t number) {
    std::uint32_t& members = *members_.at(group);
    if ((members & kMany) == 0) {
        if (members != number) return false;
        members = kEmpty;
        return true;
    }
    const std::uint32_t place = members & ~kMany;
    SortedNumbers& several = many_[place];
    if (!several.remove(number)) return false;
    if (several.size() > 1 || (several.size() == 1 && several.first() >= kMany)) return true;
    members = several.size() == 0 ? kEmpty : static_cast<std::uint32_t>(several.first());
    several = {};
    free_many_.push_back(place);
    return true;
}

void Groups::drop(std::uint32_t group) {
    const std::uint64_t* row = rows_.at(group);
    index_.erase(hash(row), group, [&](std::uint32_t other) { return hash(rows_.at(other)); });
    free_.push_back(group);
}

std::size_t Groups::bytes() const {
    std::size_t sum = rows_.bytes() + members_.bytes() + index_.bytes();
    sum += many_.capacity() * sizeof(SortedNumbers);
    sum += (free_.capacity() + free_many_.capacity()) * sizeof(std::uint32_t);
    for (const SortedNumbers& several : many_) sum += several.bytes();
    return sum;
}

std::uint32_t Groups::make(const std::uint64_t* row) {
    std::uint32_t group;
    if (free_.empty()) {
        rows_.reserve(made_ + std::size_t{1});
        members_.reserve(made_ + std::size_t{1});
        group = made_++;
    } else {
        group = free_.back();
        free_.pop_back();
    }
    std::copy_n(row, limbs_, rows_.at(group));
    return group;
}

void Groups::add_member(std::uint32_t& members, std::uint64_t number) {
    if (members == kEmpty && number < kMany) {
        members = static_cast<std::uint32_t>(number);
        return;
    }
    if (members == kEmpty) {
        members = kMany | free_place();
    } else if ((members & kMany) == 0) {
        const std::uint32_t place = free_place();
        many_[place].add(members);
        members = kMany | place;
    }
    many_[members & ~kMany].add(number);
}

std::uint32_t Groups::free_place() {
    if (free_many_.empty()) {
        many_.emplace_back();
        return static_cast<std::uint32_t>(many_.size() - 1);
    }
    const std::uint32_t place = free_many_.back();
    free_many_.pop_back();
    return place;
}

void Groups::grow_index() {
    index_.clear_for(count());
    constexpr std::uint32_t ahead = 16;
    for (std::uint32_t group = 0; group < made_; ++group) {
        if (group + ahead < made_) index_.prefetch(hash(rows_.at(group + ahead)));
        if (!is_empty(group)) index_.insert(hash(rows_.at(group)), group);
    }
}

}  // namespace neardup
