// A hash table from rows to groups, with five bytes a slot.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

#include "neardup/process_seed.hpp"

namespace neardup {

inline constexpr std::uint32_t kNoGroup = 0xFFFFFFFF;

// It stores hashes only; callers compare and rehash the rows.
class RowIndex {
  public:
    // Seeded, because whoever chooses texts also chooses rows.
    std::uint64_t hash(const std::uint64_t* row, std::size_t limbs) const {
        std::uint64_t hash = 0;
        for (std::size_t limb = 0; limb < limbs; ++limb)
            hash = seed_.mix(portable::rotate_half(hash) ^ row[limb]);
        return hash * 0xD6E8FEB86659FD93ULL;
    }

    void prefetch(std::uint64_t hash) const {
        if (capacity_ != 0) __builtin_prefetch(&slots_[home(hash)]);
    }

    // The group of this hash for which `is_it(group)`, or kNoGroup.
    template <typename IsIt>
    std::uint32_t find(std::uint64_t hash, const IsIt& is_it) const {
        if (capacity_ == 0) return kNoGroup;
        const std::uint8_t tag = tag_of(hash);
        for (std::size_t at = home(hash); slots_[at].tag != 0; at = after(at))
            if (slots_[at].tag == tag && is_it(slots_[at].group())) return slots_[at].group();
        return kNoGroup;
    }

    // Whether the table must grow before the next insertion.
    bool full() const { return 5 * (used_ + 1) > 4 * capacity_; }

    // Clear the table and make room for `groups` and 60 % more; all groups must be inserted again.
    void clear_for(std::size_t groups) {
        const std::size_t capacity = 64 + 2 * groups;
        slots_.reset();
        slots_ = std::make_unique<Slot[]>(capacity);
        capacity_ = capacity;
        used_ = 0;
    }

    // A group that is not there.
    void insert(std::uint64_t hash, std::uint32_t group) {
        std::size_t at = home(hash);
        while (slots_[at].tag != 0) at = after(at);
        slots_[at] = Slot(tag_of(hash), group);
        ++used_;
    }

    // A group that is there; `hash_of(group)` hashes others anew.
    template <typename HashOf>
    void erase(std::uint64_t hash, std::uint32_t group, const HashOf& hash_of) {
        std::size_t gap = home(hash);
        while (slots_[gap].tag == 0 || slots_[gap].group() != group) gap = after(gap);
        // Close the gap with groups behind it that would rather be there.
        for (std::size_t at = after(gap); slots_[at].tag != 0; at = after(at)) {
            const std::size_t wanted = home(hash_of(slots_[at].group()));
            if (steps(wanted, at) < steps(gap, at)) continue;
            slots_[gap] = slots_[at];
            gap = at;
        }
        slots_[gap].tag = 0;
        --used_;
    }

    std::size_t bytes() const { return capacity_ * sizeof(Slot); }

  private:
    struct Slot {
        std::uint8_t tag = 0;  // 0: free
        std::uint8_t place[4];

        Slot() = default;
        Slot(std::uint8_t of, std::uint32_t group) : tag(of) {
            std::memcpy(place, &group, sizeof group);
        }
        std::uint32_t group() const {
            std::uint32_t group;
            std::memcpy(&group, place, sizeof group);
            return group;
        }
    };
    static_assert(sizeof(Slot) == 5);

    static std::uint8_t tag_of(std::uint64_t hash) {
        return static_cast<std::uint8_t>(1 + (hash & 0xFFFFFF) % 255);
    }
    std::size_t home(std::uint64_t hash) const {
        return static_cast<std::size_t>(static_cast<unsigned __int128>(hash) * capacity_ >> 64);
    }
    std::size_t after(std::size_t at) const { return at + 1 == capacity_ ? 0 : at + 1; }
    std::size_t steps(std::size_t from, std::size_t to) const {
        return to >= from ? to - from : to + capacity_ - from;
    }

    ProcessSeed seed_ = process_seed();
    std::unique_ptr<Slot[]> slots_;
    std::size_t capacity_ = 0, used_ = 0;
};

}  // namespace neardup
