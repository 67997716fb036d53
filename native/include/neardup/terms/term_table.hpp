// Distinct terms and their numbers, in the order in which they first occur.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "neardup/bits.hpp"
#include "neardup/process_seed.hpp"
#include "neardup/text/nd1.hpp"

namespace neardup {

// A term is a stretch of bytes and a tag; terms are equal if both are. The bytes are not copied:
// they are where the caller says, relative to a start that may move. Takes 32 to 56 bytes a term.
class TermTable {
  public:
    struct Term {
        std::size_t begin;
        std::uint32_t length;
        std::uint32_t tag;
    };
    static constexpr std::size_t kMost = INT32_MAX;

    TermTable() : slots_(kFewest) {}

    std::size_t size() const { return terms_.size(); }
    const Term& operator[](std::size_t place) const { return terms_[place]; }

    // At least 16 bytes must be readable behind the term.
    static std::uint64_t hash(const std::uint8_t* bytes, std::size_t length, std::uint32_t tag) {
        const ProcessSeed& seed = process_seed();
        std::uint64_t value = seed.first ^ (std::uint64_t{tag} << 32 ^ length);
        std::size_t left = length;
        for (; left > 16; left -= 16, bytes += 16)
            value = portable::fold_multiply(portable::load64(bytes) ^ value,
                                            portable::load64(bytes + 8) ^ seed.second);
        const portable::BlockMask mask = portable::kBlockMasks.of[left];
        return portable::fold_multiply((portable::load64(bytes) & mask.low) ^ value,
                                       (portable::load64(bytes + 8) & mask.high) ^ seed.second);
    }

    // Load what `find` will look at.
    void prefetch(std::uint64_t hash) const { __builtin_prefetch(&slots_[hash & mask()]); }

    // The number of the term at `bytes`, or size() if it is not in the table. The bytes of known
    // terms begin at `start`.
    std::size_t find(const std::uint8_t* start, std::uint64_t hash, const std::uint8_t* bytes,
                     std::size_t length, std::uint32_t tag) const {
        const auto check = static_cast<std::uint32_t>(hash >> 32);
        for (std::size_t at = hash & mask(); slots_[at].place != kEmpty; at = (at + 1) & mask()) {
            if (slots_[at].check != check) continue;
            const Term& term = terms_[slots_[at].place];
            if (term.length == length && term.tag == tag &&
                std::memcmp(start + term.begin, bytes, length) == 0)
                return slots_[at].place;
        }
        return terms_.size();
    }

    // Add a term that is not in the table; its number is size() before the call.
    void add(std::uint64_t hash, const Term& term) {
        if (terms_.size() == kMost) throw std::length_error("too many distinct terms at once");
        if (2 * (terms_.size() + 1) > slots_.size()) grow();
        place(hash, static_cast<std::uint32_t>(terms_.size()));
        terms_.push_back(term);
        hashes_.push_back(hash);
    }

  private:
    static constexpr std::uint32_t kEmpty = ~0U;
    static constexpr std::size_t kFewest = 1 << 10;

    struct Slot {
        std::uint32_t check = 0;
        std::uint32_t place = kEmpty;
    };

    std::size_t mask() const { return slots_.size() - 1; }

    void place(std::uint64_t hash, std::uint32_t number) {
        std::size_t at = hash & mask();
        while (slots_[at].place != kEmpty) at = (at + 1) & mask();
        slots_[at] = {static_cast<std::uint32_t>(hash >> 32), number};
    }

    void grow() {
        slots_ = std::vector<Slot>(2 * slots_.size());
        for (std::size_t i = 0; i < hashes_.size(); ++i)
            place(hashes_[i], static_cast<std::uint32_t>(i));
    }

    std::vector<Slot> slots_;
    std::vector<Term> terms_;
    std::vector<std::uint64_t> hashes_;
};

}  // namespace neardup
