// The units of similarities, for the loops in matching/kernel.inc and those who call them.
#pragma once

#include <cstdint>

namespace tesla {

inline constexpr int kVectorSteps = 160;            // similarities of vectors are 160ths
inline constexpr int kSameLemma = 144;              // of words with the same lemma: .9
inline constexpr std::int32_t kStateUnit = 1 << 16;  // similarities of states are 65,536ths

}  // namespace tesla
