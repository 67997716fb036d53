#include "neardup/index_tables/id_set.hpp"

#include <utility>

#include "neardup/process_seed.hpp"
#include "neardup/text/nd1.hpp"

namespace neardup {

namespace {

using namespace portable;  // the hash, which is the same in all of them

constexpr std::size_t kAhead = 16;
constexpr std::uint64_t kPlaceMask = (1ULL << 48) - 1;

struct IdHash {
    std::uint64_t hash, more;
};

// Seeded, because ids come from outside like texts: nobody can choose ids that collide.
IdHash hash_id(const std::uint8_t* bytes, std::size_t length, const ProcessSeed& seed) {
    std::uint8_t padded[kReadAhead] = {};
    std::uint64_t first = 0, second = length;
    for (std::size_t at = 0; at == 0 || at < length; at += 16) {
        const std::size_t some = length - at < 16 ? length - at : 16;
        std::memset(padded, 0, sizeof padded);
        if (some != 0) std::memcpy(padded, bytes + at, some);
        first = fold_multiply(load64(padded) ^ seed.first ^ first,
                              load64(padded + 8) ^ seed.second ^ length);
        second = fold_multiply(load64(padded) ^ seed.second ^ rotate_half(second),
                               load64(padded + 8) ^ rotate_half(seed.first) ^ second);
    }
    const std::uint64_t hash = feature_of(first ^ rotate_half(second));
    return {hash == 0 ? 1 : hash, feature_of(second + 3 * first) & ~kPlaceMask};
}

}  // namespace

std::optional<IdSet::Repeat> IdSet::add(const Column& ids, const std::int64_t* places) {
    // Slots are prefetched some ids before they are needed.
    const ProcessSeed seed = process_seed();
    IdHash ahead[kAhead];
    const auto hash_ahead = [&](std::size_t i) {
        if (i >= ids.count) return;
        const std::int64_t at = ids.offsets[i];
        ahead[i % kAhead] =
            hash_id(ids.data + at, static_cast<std::size_t>(ids.offsets[i + 1] - at), seed);
        if (!slots_.empty())
            __builtin_prefetch(&slots_[ahead[i % kAhead].hash & (slots_.size() - 1)], 1);
    };
    for (std::size_t i = 0; i < kAhead; ++i) hash_ahead(i);
    for (std::size_t i = 0; i < ids.count; ++i) {
        if (4 * (used_ + 1) > 3 * slots_.size()) grow();
        const IdHash id = ahead[i % kAhead];
        hash_ahead(i + kAhead);
        std::size_t at = id.hash & (slots_.size() - 1);
        while (slots_[at].hash != 0) {
            const Slot& slot = slots_[at];
            if (slot.hash == id.hash && (slot.more_and_place & ~kPlaceMask) == id.more)
                return Repeat{i, static_cast<std::int64_t>(slot.more_and_place & kPlaceMask)};
            at = (at + 1) & (slots_.size() - 1);
        }
        slots_[at] = {id.hash, id.more | (static_cast<std::uint64_t>(places[i]) & kPlaceMask)};
        ++used_;
    }
    return std::nullopt;
}

void IdSet::grow() {
    std::vector<Slot> grown(slots_.empty() ? 1024 : 2 * slots_.size());
    for (const Slot& slot : slots_) {
        if (slot.hash == 0) continue;
        std::size_t at = slot.hash & (grown.size() - 1);
        while (grown[at].hash != 0) at = (at + 1) & (grown.size() - 1);
        grown[at] = slot;
    }
    slots_ = std::move(grown);
}

}  // namespace neardup
