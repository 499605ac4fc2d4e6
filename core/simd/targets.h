// The kinds of CPU that this compiler makes code for, and all that their source files need before they set their target.
// -DTESLA_PORTABLE leaves the one kind that every compiler has.
#pragma once

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/portable.h"
#include "simd/kernels.h"

#if !defined(TESLA_PORTABLE) && (defined(__x86_64__) || (defined(_M_X64) && !defined(_M_ARM64EC)))
#define TESLA_X86
#include <immintrin.h>
#elif !defined(TESLA_PORTABLE) && (defined(__aarch64__) || defined(_M_ARM64)) && !defined(__ARM_BIG_ENDIAN)
#define TESLA_ARM
#include <arm_neon.h>
#if !defined(__clang__) || __clang_major__ >= 16 || defined(__ARM_FEATURE_DOTPROD)
#define TESLA_ARM_DOT
#endif
#endif

// Functions between these two are for a CPU with some features; headers are included before, so that nothing of them is.
// MSVC knows all intrinsics without being told.
#define TESLA_PRAGMA(text) _Pragma(#text)
#if defined(__clang__)
#define TESLA_BEGIN_TARGET(features) \
    TESLA_PRAGMA(clang attribute push(__attribute__((target(features))), apply_to = function))
#define TESLA_END_TARGET TESLA_PRAGMA(clang attribute pop)
#elif defined(__GNUC__)
#define TESLA_BEGIN_TARGET(features) TESLA_PRAGMA(GCC push_options) TESLA_PRAGMA(GCC target(features))
#define TESLA_END_TARGET TESLA_PRAGMA(GCC pop_options)
#else
#define TESLA_BEGIN_TARGET(features)
#define TESLA_END_TARGET
#endif

// For what works on vectors in registers, and for a loop that Clang would not give whole vectors of 16-bit numbers.
#if defined(__clang__)
#define TESLA_INLINE inline __attribute__((always_inline))
#define TESLA_UNROLL TESLA_PRAGMA(unroll)
#define TESLA_EIGHT_LANES TESLA_PRAGMA(clang loop vectorize_width(8) interleave_count(1))
#elif defined(__GNUC__)
#define TESLA_INLINE inline __attribute__((always_inline))
#define TESLA_UNROLL TESLA_PRAGMA(GCC unroll 16)
#define TESLA_EIGHT_LANES
#else
#define TESLA_INLINE inline
#define TESLA_UNROLL
#define TESLA_EIGHT_LANES
#endif

namespace tesla {

namespace portable { extern const Kernels kernels; }
namespace avx2 { extern const Kernels kernels; }
namespace avx512vnni { extern const Kernels kernels; }
namespace neon { extern const Kernels kernels; }
namespace neondot { extern const Kernels kernels; }

}  // namespace tesla
