// Which features occur in two or more passages: a sieve of fixed size that forgets none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace neardup {

// Features share bits, so that one that occurs once may pass for one that occurs twice, never the
// other way round.
class Sightings {
  public:
    // Room for `bits` features, a power of two.
    explicit Sightings(std::uint64_t bits);

    // See features, each once per passage.
    void see(const std::uint64_t* hashes, std::size_t count);

    // How many features of each passage, offsets[i] … offsets[i + 1], were seen twice or more.
    void count(const std::int64_t* offsets, std::size_t passages, const std::uint64_t* hashes,
               std::uint32_t* counts) const;

  private:
    std::uint64_t place(std::uint64_t hash) const;

    std::uint64_t bits_;
    std::vector<std::uint64_t> pairs_;  // two bits of each feature: seen, and seen again
};

}  // namespace neardup
