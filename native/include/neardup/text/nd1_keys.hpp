// The constants of the nd1 hash.
#pragma once

#include <cstdint>

#include "neardup/isa.hpp"

namespace neardup::NEARDUP_ISA {

// Fractional digits of pi, and the golden ratio: numbers nobody chose for their effect.
inline constexpr std::uint64_t kLowKey = 0x243F6A8885A308D3;
inline constexpr std::uint64_t kHighKey = 0x452821E638D01377;
inline constexpr std::uint64_t kShingleBase = 0x9E3779B97F4A7C15;
inline constexpr std::uint64_t kFeatureKey = 0x13198A2E03707344;
inline constexpr std::uint64_t kTurnedKey = 0xC0AC29B7C97C50DD;
inline constexpr std::uint64_t kWidthStep = 0xA4093822299F31D1;
inline constexpr std::uint64_t kWidthKey = 0x3F84D5B5B5470917;

}  // namespace neardup::NEARDUP_ISA
